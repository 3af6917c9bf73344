package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// screens are terminals of people, each a tmux session.
type screens struct {
	*place
	socket string
}

func newScreens(p *place) *screens {
	need(p.t, "tmux")
	s := &screens{place: p, socket: filepath.Join(p.home, "tmux")}
	p.t.Cleanup(func() { _, _ = s.tmux("kill-server") })
	return s
}

func (s *screens) tmux(args ...string) (string, error) {
	cmd := exec.Command("tmux", append([]string{"-S", s.socket, "-f", "/dev/null"}, args...)...)
	cmd.Env = append(s.env(), "LC_ALL=C.UTF-8")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (s *screens) must(args ...string) string {
	s.t.Helper()
	out, err := s.tmux(args...)
	if err != nil {
		s.t.Fatalf("tmux %v: %v: %s", args, err, out)
	}
	return out
}

// open gives a person a terminal of a size, in which a command line runs; when it has
// ended its exit code is shown.
func (s *screens) open(name string, cols, rows int, line string) {
	s.t.Helper()
	s.must("new-session", "-d", "-s", name, "-x", fmt.Sprint(cols), "-y", fmt.Sprint(rows),
		"sh", "-c", line+"; echo \"left with $?\"; sleep 1000")
	s.must("set-option", "-t", name, "status", "off")
	s.must("set-option", "-t", name, "window-size", "manual")
	s.must("resize-window", "-t", name, "-x", fmt.Sprint(cols), "-y", fmt.Sprint(rows))
}

func (s *screens) shows(name, text string) {
	s.t.Helper()
	s.await(fmt.Sprintf("%s shows %q; it shows:\n%s", name, text, s.must("capture-pane", "-p", "-t", name)), func() bool {
		return strings.Contains(s.must("capture-pane", "-p", "-t", name), text)
	})
}

func (s *screens) types(name string, keys ...string) {
	s.t.Helper()
	s.must(append([]string{"send-keys", "-t", name}, keys...)...)
}

// Without a daemon: a shell on a terminal is started in the background, two people look
// at it with windows of different sizes, type, resize and leave; it goes on throughout.
func TestAttach(t *testing.T) {
	p := newPlace(t, "")
	s := newScreens(p)
	id, problem, code := p.run("", "exec", "--background", "--pty", "--", "PS1='ready> ' exec bash --norc --noprofile -i")
	if id = strings.TrimSpace(id); code != 0 {
		t.Fatalf("%d: %s", code, problem)
	}
	attach := binary + " process attach " + id

	s.open("ann", 100, 30, attach)
	s.shows("ann", "ready>")
	s.types("ann", "printf 'a=%s\\n' $((40+2)); stty size", "Enter")
	s.shows("ann", "a=42")
	s.shows("ann", "30 100")

	s.open("bob", 80, 40, attach) // sees what was there, and both have the smaller size
	s.shows("bob", "a=42")
	s.types("bob", "clear; stty size", "Enter")
	for _, name := range []string{"ann", "bob"} {
		s.shows(name, "30 80")
	}
	s.must("resize-window", "-t", "bob", "-x", "120", "-y", "20")
	s.types("ann", "clear; sleep 0.3; stty size", "Enter")
	for _, name := range []string{"ann", "bob"} {
		s.shows(name, "20 100")
	}

	s.types("bob", "C-\\")
	s.shows("bob", "detached from "+id)
	s.shows("bob", "left with 0")
	s.types("ann", "clear; sleep 0.3; stty size", "Enter")
	s.shows("ann", "30 100")

	// A program that fills the screen draws itself again for one who comes late, with its
	// modes; the detach key can be another one.
	if err := os.WriteFile(filepath.Join(p.home, "text"), []byte("first line\nsecond line\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := exec.LookPath("vim"); err == nil {
		s.types("ann", "vim -u NONE -N text", "Enter")
		s.shows("ann", "second line")
		s.open("eve", 100, 30, attach+" --detach-key C-q")
		s.shows("eve", "first line")
		s.types("eve", "o", "from eve", "Escape", ":wq", "Enter")
		s.await("eve's line is in the file", func() bool {
			data, _ := os.ReadFile(filepath.Join(p.home, "text"))
			return strings.Contains(string(data), "first line\nfrom eve\n")
		})
		s.await("vim has gone", func() bool {
			return strings.HasSuffix(strings.TrimSpace(s.must("capture-pane", "-p", "-t", "ann")), "\nready>")
		})
		s.types("eve", "C-q")
		s.shows("eve", "left with 0")
	} else {
		t.Log("vim is not installed: no full-screen program was tried")
	}

	s.types("ann", "exit 7", "Enter")
	s.shows("ann", "left with 7")
	if out, problem, _ := p.run("", "process", "log", id); !strings.Contains(out, "a=42") {
		t.Errorf("log: %q %s", out, problem)
	}
	_, problem, code = p.run("", "process", "attach", id)
	if code != 2 || !strings.Contains(problem, "needs a terminal") {
		t.Errorf("without a terminal: %d %s", code, problem)
	}
}
