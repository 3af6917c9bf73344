package e2e

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden screens anew")

// volatile are the parts of a screen that differ from run to run, with what stands for
// them, of the same width.
var volatile = []struct {
	re *regexp.Regexp
	as string
}{
	{regexp.MustCompile(`\b[0-9a-f]{8}\b`), "00000000"},
	{regexp.MustCompile(`\b(29m \d\ds|30m 00s)`), "29m 59s"},
	{regexp.MustCompile(`127\.0\.0\.1:\d{5}`), "127.0.0.1:18789"},
}

// golden compares a screen with the one that is kept.
func (s *screens) golden(name, file string) {
	s.t.Helper()
	screen := s.must("capture-pane", "-p", "-t", name)
	for _, v := range volatile {
		screen = v.re.ReplaceAllString(screen, v.as)
	}
	lines := strings.Split(strings.TrimRight(screen, "\n"), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	screen = strings.Join(lines, "\n") + "\n"
	path := filepath.Join("testdata", file)
	if *update {
		if err := os.WriteFile(path, []byte(screen), 0o644); err != nil {
			s.t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		s.t.Fatal(err)
	}
	if screen != string(want) {
		s.t.Errorf("the screen is not %s:\n%s\nbut\n%s", path, want, screen)
	}
}

// TestInbox drives the inbox and the prompt of a waiting command through a terminal of
// 80x24, as over SSH.
func TestInbox(t *testing.T) {
	p := newPlace(t, `tools: {exec: {mode: "ask"}}`)
	s := newScreens(p)
	d := p.start()
	token := d.secret("agent-token")

	s.open("inbox", 80, 24, binary+" approvals watch")
	s.shows("inbox", "nothing waits for you")
	ask := func(command string) string {
		t.Helper()
		res := d.invoke(token, "exec", map[string]any{"command": command, "workdir": "/"})
		if res["status"] != "approval-pending" {
			t.Fatalf("%q: %v", command, res)
		}
		id, _ := res["sessionId"].(string)
		return id
	}
	first := ask("cat /etc/hostname | head -1")
	s.shows("inbox", "1 pending")
	second := ask("echo one\necho two\u202e; for i in 1 2 3; do echo $(id) " + strings.Repeat("a long line ", 12) + "; done\n" + strings.Repeat("true\n", 40))
	s.shows("inbox", "2 pending")
	s.golden("inbox", "inbox-list.txt")
	s.types("inbox", "j")
	s.shows("inbox", `2 │ echo two\u{202E}`)
	s.golden("inbox", "inbox-long.txt")
	s.types("inbox", "v")
	s.shows("inbox", "j/k scroll")
	s.golden("inbox", "inbox-whole.txt")
	s.types("inbox", "v", "d")
	s.shows("inbox", "1 pending")
	s.await("the second is denied", func() bool { return d.status(second) == "denied" })
	s.types("inbox", "A")
	s.shows("inbox", "Store it and run? y / n")
	s.golden("inbox", "inbox-always.txt")
	s.types("inbox", "n")
	s.shows("inbox", "not stored")
	s.types("inbox", "a")
	s.shows("inbox", "0 pending")
	s.await("the first has run", func() bool { return d.status(first) == "completed" })
	s.types("inbox", "q")
	s.shows("inbox", "left with 0")

	// A command that waits asks in its own terminal.
	s.open("command", 80, 24, "cd /; "+binary+" exec -- 'echo ran; echo twice | cat'")
	s.shows("command", "d deny")
	s.golden("command", "prompt.txt")
	s.types("command", "a")
	s.shows("command", "twice")
	s.shows("command", "left with 0")
	s.open("denied", 80, 24, "cd /; "+binary+" exec -- 'echo ran again'")
	s.shows("denied", "d deny")
	s.types("denied", "d")
	s.shows("denied", "left with 126")
	s.open("left", 80, 24, "cd /; "+binary+" exec -- 'echo ran once more'")
	s.shows("left", "d deny")
	s.types("left", "C-c")
	s.shows("left", "left with 126")
	s.await("its request is gone", func() bool {
		var list []any
		_, ok := d.rpc("exec.approval.list", nil, &list)
		return ok && len(list) == 0
	})
	// Decided elsewhere, the prompt goes away by itself.
	s.open("elsewhere", 80, 24, "cd /; "+binary+" exec -- 'echo from afar'")
	s.shows("elsewhere", "d deny")
	out, _, code := p.run("", "approvals", "pending", "--json")
	if code == 0 { // without a terminal the operator's token is used only where nobody can have started us
		t.Logf("%s", out)
	}
	var list []struct{ ID string }
	if _, ok := d.rpc("exec.approval.list", nil, &list); !ok || len(list) != 1 {
		t.Fatalf("%v", list)
	}
	d.rpc("approval.resolve", map[string]string{"id": list[0].ID, "decision": "allow-once"}, nil)
	s.shows("elsewhere", "left with 0")
}

// status is what the process tool says of an approval.
func (d *daemon) status(id string) string {
	res := d.invoke(d.secret("agent-token"), "process", map[string]any{"action": "poll", "sessionId": id})
	status, _ := res["status"].(string)
	return status
}

// TestInboxAfterRestart: the inbox outlives the gateway that it shows, here and from
// elsewhere, and shows again what waits.
func TestInboxAfterRestart(t *testing.T) {
	p := newPlace(t, `tools: {exec: {mode: "ask"}}`)
	s := newScreens(p)
	d := p.start()
	token := d.secret("agent-token")
	s.open("here", 80, 24, binary+" approvals watch")
	s.open("far", 80, 24, binary+" approvals watch --url "+strings.Replace(d.url, "http", "ws", 1)+" --token-file "+filepath.Join(p.state, "gateway-token"))
	for _, name := range []string{"here", "far"} {
		s.shows(name, "nothing waits for you")
	}
	d.invoke(token, "exec", map[string]any{"command": "echo waits", "workdir": "/"})
	for _, name := range []string{"here", "far"} {
		s.shows(name, "1 pending")
	}
	d.kill9()
	for _, name := range []string{"here", "far"} {
		s.shows(name, "trying again")
	}
	p.start()
	for _, name := range []string{"here", "far"} {
		s.shows(name, "1 pending")
	}
	s.types("far", "d")
	for _, name := range []string{"here", "far"} {
		s.shows(name, "0 pending")
	}
}
