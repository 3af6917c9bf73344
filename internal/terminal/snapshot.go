package terminal

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"openclaw/internal/protocol"
)

const (
	// MaxReplay is how many bytes of output a snapshot is made from; of longer
	// output the last ones count.
	MaxReplay = 256 << 10
	// MaxSide is the largest number of columns or rows of a screen.
	MaxSide = 1000
)

// Snapshot returns what a terminal of cols by rows shows after output, which is
// all that a program printed since it started. Sizes are held within 1 to MaxSide.
// Queries in the output are not answered. An output longer than MaxReplay is taken
// as SnapshotTail takes it.
//
// If the terminal was resized on the way, what was drawn for the old size
// is replayed at the new one: right again once the program has redrawn.
// An error means a fault of this package, never of the output.
func Snapshot(output []byte, cols, rows int) (protocol.Screen, error) {
	if len(output) > MaxReplay {
		var t Tracker
		if _, err := t.Write(output); err != nil {
			return protocol.Screen{}, fmt.Errorf("follow modes: %w", err)
		}
		return SnapshotTail(output, cols, rows, t.Modes())
	}
	return shoot(output, cols, rows, Modes{})
}

// SnapshotTail is Snapshot for output whose beginning is gone. now is what a
// Tracker says after the last byte of output: from it follows on which screen
// the rest began. The remains of a line or sequence at the cut are left out.
func SnapshotTail(output []byte, cols, rows int, now Modes) (protocol.Screen, error) {
	output, start := tailOf(output, now)
	shot, err := shoot(output, cols, rows, start)
	if err == nil {
		shot.Title = now.Title
	}
	return shot, err
}

// tailOf returns the part of output that makes sense, and in which modes it began.
func tailOf(output []byte, now Modes) (tail []byte, start Modes) {
	if len(output) > MaxReplay {
		output = output[len(output)-MaxReplay:]
	}
	output = output[afterCut(output):]
	return output, Modes{AltScreen: startedOnAlt(output, now.AltScreen), Title: now.Title}
}

// afterCut returns where sense begins in output that was cut anywhere.
func afterCut(output []byte) int {
	const search = 4 << 10
	switch i := bytes.IndexAny(output[:min(len(output), search)], "\x1b\n\a"); {
	case i < 0:
		// A long line of text: only a cut character is to be skipped.
		for i = 0; i < len(output) && i < utf8.UTFMax && !utf8.RuneStart(output[i]); i++ {
		}
		return i
	case output[i] == esc:
		return i
	default:
		return i + 1
	}
}

// startedOnAlt reports whether output began on the alternate screen, given that
// it ended there or not: the first switch in it leads away from where it began.
func startedOnAlt(output []byte, endsOnAlt bool) bool {
	var l lexer
	for i := 0; i < len(output); i++ {
		b := output[i]
		if t := l.step(b); t != tokCSI || l.prefix != '?' || l.inter != 0 || b != 'h' && b != 'l' {
			continue
		}
		for _, p := range l.written() {
			if p == 47 || p == 1047 || p == 1049 {
				return b == 'l'
			}
		}
	}
	return endsOnAlt
}

// shoot draws output and reads the screen as text.
func shoot(output []byte, cols, rows int, start Modes) (shot protocol.Screen, err error) {
	err = replay(output, cols, rows, start, func(p *painter) {
		shot = protocol.Screen{
			Cols: p.cols, Rows: p.rows, Lines: make([]string, p.rows),
			CursorRow: p.cur.y, CursorCol: p.cur.x,
			Title: p.now.modes.Title, AltScreen: p.onAlt == 1,
		}
		for y := range shot.Lines {
			shot.Lines[y] = p.text(y)
		}
	})
	if err != nil {
		return protocol.Screen{}, err
	}
	return shot, nil
}

// replay draws output on an empty screen and lets read see the outcome.
func replay(output []byte, cols, rows int, start Modes, read func(*painter)) (err error) {
	// Foreign bytes must not end the daemon, even through a fault of ours.
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("draw screen from %d bytes of output: %v", len(output), r)
		}
	}()
	p := painter{screen: newScreen(min(max(cols, 1), MaxSide), min(max(rows, 1), MaxSide))}
	p.now.modes = start
	p.showAlt(start.AltScreen)
	p.draw(output)
	read(&p)
	return nil
}
