package cli

// How this program speaks:
//   - What was asked for goes to standard output, everything about it to standard
//     error, so that pipes and scripts get the first alone.
//   - A message is one line "openclaw: error: ..." (or warning, note), then perhaps
//     "openclaw: hint: ..." with what to do; lower case, no full stop, printed once, at
//     the edge.
//   - Foreign text (commands, names, errors) is shown with its control characters
//     visible; a command's own output passes as it is.
//   - Colour only on a terminal without NO_COLOR, and never as the only sign.
//   - A table fits the terminal; its last column gives way. Without a terminal nothing
//     is cut.
//   - --json prints one object, indented, nothing else.

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"openclaw/internal/config"
	"openclaw/internal/protocol"
)

// report prints an error and its hint. Command is what --help is asked of.
func (e *Env) report(err error, command string) {
	var exit *exitError
	if errors.As(err, &exit) && exit.err == nil {
		return
	}
	var bad *usageError
	var wire *protocol.Error
	var told *hinted
	text, advice := err.Error(), ""
	switch {
	case errors.As(err, &bad):
		advice = bad.hint
		if advice == "" {
			advice = "see " + command + " --help"
		}
	case errors.As(err, &wire):
		text = strings.TrimSuffix(text, wire.Error()) + wire.Message
		advice = wire.Hint
	case errors.As(err, &told):
		advice = told.hint
	}
	for line := range strings.Lines(text) {
		e.say("error", "%s", strings.TrimRight(line, "\n"))
	}
	if advice != "" {
		e.say("hint", "%s", advice)
	}
}

// say prints one message line on standard error. What cannot be printed is not worth
// failing for.
func (e *Env) say(kind, format string, args ...any) {
	label := kind
	if e.colour(e.Stderr) {
		switch kind {
		case "error":
			label = "\x1b[31m" + kind + "\x1b[0m"
		case "warning":
			label = "\x1b[33m" + kind + "\x1b[0m"
		}
	}
	fmt.Fprintf(e.Stderr, "openclaw: %s: %s\n", label, visible(fmt.Sprintf(format, args...)))
}

// colour says whether a stream shows colours.
func (e *Env) colour(stream io.Writer) bool {
	_, ok := terminal(stream)
	return ok && e.Getenv("NO_COLOR") == "" && e.Getenv("TERM") != "dumb"
}

// bold makes text stand out on standard output.
func (e *Env) bold(s string) string {
	if !e.colour(e.Stdout) {
		return s
	}
	return "\x1b[1m" + s + "\x1b[0m"
}

// visible shows control and direction characters of foreign text instead of obeying
// them: a name must not be able to repaint the terminal.
func visible(s string) string {
	if !strings.ContainsFunc(s, hidden) && utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteByte(' ')
		case hidden(r):
			fmt.Fprintf(&b, `\u{%x}`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func hidden(r rune) bool {
	return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp)
}

// json prints one value as C-30 says.
func (e *Env) json(v any) error {
	enc := json.NewEncoder(e.Stdout)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("write json: %w", err)
	}
	return nil
}

// printf prints an answer.
func (e *Env) printf(format string, args ...any) error {
	_, err := fmt.Fprintf(e.Stdout, format, args...)
	return err
}

// table prints rows under a head, columns two blanks apart.
func (e *Env) table(head []string, rows [][]string) error {
	widths := make([]int, len(head))
	shown := make([][]string, 0, len(rows)+1)
	for _, row := range append([][]string{head}, rows...) {
		line := make([]string, len(row))
		for i, cell := range row {
			line[i] = visible(cell)
			widths[i] = max(widths[i], utf8.RuneCountInString(line[i]))
		}
		shown = append(shown, line)
	}
	for n, line := range shown {
		var b strings.Builder
		for i, cell := range line {
			if i < len(line)-1 {
				cell += strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)+2)
			}
			b.WriteString(cell)
		}
		text := strings.TrimRight(cut(b.String(), e.width()), " ")
		if n == 0 {
			text = e.bold(text)
		}
		if err := e.printf("%s\n", text); err != nil {
			return err
		}
	}
	return nil
}

// cut shortens a line to a width; 0 = any.
func cut(s string, width int) string {
	if width <= 0 || utf8.RuneCountInString(s) <= width {
		return s
	}
	r := []rune(s)
	return string(r[:max(width-1, 0)]) + "…"
}

// span is a duration as people read it: "850ms", "12s", "3m05s", "2h10m", "4d3h".
func span(d time.Duration) string {
	switch d = max(d, 0); {
	case d < time.Second:
		return fmt.Sprintf("%dms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	case d < 24*time.Hour:
		return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("%dd%dh", int(d.Hours())/24, int(d.Hours())%24)
}

// configError makes what is wrong in the configuration printable, with the way to see
// it again.
func configError(err error) error {
	var faults config.Errors
	if errors.As(err, &faults) {
		return &hinted{err: err, hint: "openclaw config validate checks the file, openclaw config file names it"}
	}
	return err
}
