package gateway

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestLogTail: whole lines, bounded, from where the reader was; what is gone is said.
func TestLogTail(t *testing.T) {
	tail := NewLogTail(100)
	for i := range 30 {
		fmt.Fprintf(tail, "line %02d\n", i) // 8 bytes each
	}
	lines, end, cut, reset, _ := tail.since(-1, 3, 1000)
	if !slices.Equal(lines, []string{"line 27", "line 28", "line 29"}) || end != 240 || cut || reset {
		t.Errorf("the last: %q %d %v %v", lines, end, cut, reset)
	}
	lines, _, _, reset, _ = tail.since(0, 1000, 1000)
	if !reset || len(lines) != 12 || lines[0] != "line 18" {
		t.Errorf("from the beginning: %q %v", lines, reset)
	}
	lines, _, cut, reset, more := tail.since(224, 1000, 1000)
	if !slices.Equal(lines, []string{"line 28", "line 29"}) || cut || reset {
		t.Errorf("from a cursor: %q", lines)
	}
	select {
	case <-more:
		t.Error("nothing was added")
	default:
	}
	fmt.Fprintln(tail, "new")
	<-more
	if lines, _, cut, _, _ := tail.since(216, 2, 1000); !slices.Equal(lines, []string{"line 29", "new"}) || !cut {
		t.Errorf("more than fits: %q %v", lines, cut)
	}
	if _, _, _, reset, _ := tail.since(1<<40, 2, 1000); !reset {
		t.Error("a cursor of another daemon")
	}
	fmt.Fprintln(tail, strings.Repeat("x", 300))
	if len(tail.text) > 100 {
		t.Errorf("%d bytes are kept", len(tail.text))
	}
}
