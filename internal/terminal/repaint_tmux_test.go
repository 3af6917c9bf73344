package terminal

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// tmuxState is what tmux tells of a pane's cursor and modes.
const tmuxState = "cursor #{cursor_x},#{cursor_y} shown #{cursor_flag} alt #{alternate_on} " +
	"region #{scroll_region_upper},#{scroll_region_lower} keys #{keypad_cursor_flag} pad #{keypad_flag} insert #{insert_flag} " +
	"wrap #{wrap_flag} origin #{origin_flag} mouse #{mouse_standard_flag}#{mouse_button_flag}#{mouse_all_flag}#{mouse_sgr_flag}"

// A terminal that is not ours sees the same after a program's output and after
// the repaint of it.
func TestRepaint_AsTmuxSeesIt(t *testing.T) {
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("tmux is missing")
	}
	const cols, rows = 80, 24
	outputs := map[string]string{}
	files, err := filepath.Glob("testdata/*.out")
	if err != nil || len(files) == 0 {
		t.Fatalf("no recordings: %v", err)
	}
	for _, file := range files {
		out, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		outputs[filepath.Base(file)] = string(out)
		outputs[filepath.Base(file)+", half"] = string(out[:len(out)/2])
	}
	for _, c := range repaintCases {
		if !tmuxDiffers[c.name] {
			outputs[c.name] = c.out
		}
	}
	tm := startTmux(t, cols, rows)
	fresh, _, _ := strings.Cut(tm.show(fmt.Sprintf("\x1b[%d;1H", rows)), "\n")
	for name, out := range outputs {
		painted, err := Repaint([]byte(out), cols, rows)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := tm.show(string(painted)), tm.show(out); got != want {
			t.Errorf("%s: %.300q\n got %s\nwant %s", name, out, got, want)
		}
		got, want := tm.showCells(string(painted), cols, rows), tm.showCells(out, cols, rows)
		for y := range want {
			if got[y] != want[y] {
				t.Errorf("%s: %.300q\nrow %d\n got %s\nwant %s", name, out, y, got[y], want[y])
				break
			}
		}
		if !strings.Contains(name, ".out") {
			continue
		}
		if state, _, _ := strings.Cut(tm.show(string(painted)+string(Reset())), "\n"); state != fresh {
			t.Errorf("%s: after the reset %s, want %s", name, state, fresh)
		}
	}
}

// tmuxDiffers names the cases that tmux 3.3a sees in another way than we do: broken
// sequences and bytes, and a place that no sequence reaches.
var tmuxDiffers = map[string]bool{
	"broken colours": true, "controls": true, "origin and cursor outside": true,
}

type tmux struct {
	t      *testing.T
	socket string
	dir    string
	shown  int
}

func startTmux(t *testing.T, cols, rows int) *tmux {
	dir := t.TempDir()
	tm := &tmux{t: t, dir: dir, socket: filepath.Join(dir, "s")}
	config := filepath.Join(dir, "conf")
	if err := os.WriteFile(config, []byte("set -g status off\nset -g remain-on-exit on\nset -g default-shell /bin/sh\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	tm.run("-f", config, "new-session", "-d", "-x", fmt.Sprint(cols), "-y", fmt.Sprint(rows), "exec cat")
	t.Cleanup(func() { tm.run("kill-server") })
	return tm
}

func (tm *tmux) run(args ...string) string {
	tm.t.Helper()
	out, err := exec.Command("tmux", append([]string{"-u", "-S", tm.socket}, args...)...).CombinedOutput()
	if err != nil {
		tm.t.Fatalf("tmux %s: %v: %s", args, err, out)
	}
	return string(out)
}

// show returns the state and the text of a pane that has taken output.
func (tm *tmux) show(output string) (shown string) {
	tm.t.Helper()
	tm.feed(output, func(state string, p *painter) {
		shown = state + "\n"
		for y := range p.rows {
			shown += p.text(y) + "\n"
		}
	})
	return shown
}

// showCells returns the rows of a pane with every cell's style, but for the last
// column: tmux leaves out coloured blanks at the end of a row unless text follows.
func (tm *tmux) showCells(output string, cols, rows int) (cells []string) {
	tm.t.Helper()
	output += "\x1b[m\x1b(B\x0f\x1b[?6l\x1b[4l"
	for y := range rows {
		output += fmt.Sprintf("\x1b[%d;%dH|", y+1, cols)
	}
	tm.feed(output, func(_ string, p *painter) { cells = p.rowsOf(p.main)[:rows] })
	return cells
}

// feed gives output to a new pane and lets look see what becomes of it. What the
// pane answers goes nowhere.
func (tm *tmux) feed(output string, look func(state string, p *painter)) {
	tm.t.Helper()
	tm.shown++
	file, done := filepath.Join(tm.dir, "out"), fmt.Sprintf("done-%d", tm.shown)
	if err := os.WriteFile(file, []byte(output+"\x1b]2;"+done+"\a"), 0o600); err != nil {
		tm.t.Fatal(err)
	}
	pane := strings.TrimSpace(tm.run("new-window", "-d", "-P", "-F", "#{pane_id}",
		"stty raw -echo; cat '"+file+"'; exec cat >/dev/null"))
	defer tm.run("kill-pane", "-t", pane)
	for deadline := time.Now().Add(20 * time.Second); ; {
		time.Sleep(5 * time.Millisecond)
		seen := tm.run("display-message", "-p", "-t", pane, "#{pane_title}", ";",
			"display-message", "-p", "-t", pane, tmuxState, ";",
			"capture-pane", "-p", "-e", "-N", "-t", pane)
		title, rest, _ := strings.Cut(seen, "\n")
		if title != done && time.Now().Before(deadline) {
			continue
		}
		if title != done {
			tm.t.Fatalf("tmux did not take %.80q", output)
		}
		state, captured, _ := strings.Cut(rest, "\n")
		// What tmux writes is read with our own reader, as it may write one style in
		// several ways. It keeps line drawing in G1.
		captured = "\x1b)0" + strings.ReplaceAll(captured, "\n", "\r\n")
		if err := replay([]byte(captured), 200, 100, Modes{}, func(p *painter) { look(state, p) }); err != nil {
			tm.t.Fatal(err)
		}
		return
	}
}
