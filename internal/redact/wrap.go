package redact

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// longEscape bounds an escape in bytes: \u{10FFFF×COUNT} with room for any count.
const longEscape = 32

// Wrap breaks an escaped line into pieces that fit width columns, and cuts nothing: the
// pieces joined give the line again. It breaks behind a blank where that leaves a piece at
// least half full, else anywhere but inside a character or an escape; what is wider than
// width alone stands alone. A width below 1 counts as 1. There is always one piece.
func Wrap(s string, width int) []string {
	width = max(width, 1)
	var out []string
	start, used := 0, 0       // of the piece
	blank, usedBlank := -1, 0 // behind the last blank of the piece
	for i := 0; i < len(s); {
		size, columns := unit(s[i:])
		for used > 0 && used+columns > width {
			end := i
			if blank > start && blank < i && usedBlank >= width/2 {
				end = blank
				used -= usedBlank
			} else {
				used = 0
			}
			out = append(out, s[start:end])
			start, blank = end, -1
		}
		i += size
		used += columns
		if s[i-1] == ' ' {
			blank, usedBlank = i, used
		}
	}
	return append(out, s[start:])
}

// unit measures what stands at the beginning and must not be broken: an escape, or a
// character with its marks.
func unit(s string) (size, columns int) {
	if strings.HasPrefix(s, `\u{`) {
		if end := strings.IndexByte(s[:min(len(s), longEscape)], '}'); end > 0 {
			return end + 1, ansi.StringWidth(s[:end+1])
		}
	}
	if s[0] >= 0x20 && s[0] < 0x7f && (len(s) == 1 || s[1] < 0x80) {
		return 1, 1
	}
	cluster, columns := ansi.FirstGraphemeCluster(s, ansi.GraphemeWidth)
	// Terminals disagree about symbols of several parts; the wider answer never overflows.
	_, other := ansi.FirstGraphemeCluster(s, ansi.WcWidth)
	return max(len(cluster), 1), max(columns, other)
}
