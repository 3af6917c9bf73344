//go:build unix

package cli

import (
	"os/exec"
	"strings"
	"testing"
)

// What commandText makes of several arguments, a real shell takes apart again.
func TestCommandText(t *testing.T) {
	words := []string{
		"plain", "", " ", "a b", "it's", "'", "''", `"`, `\`, `a\'b`, "$HOME", "`id`", "*", "~", "!x", "#no", "X=1", "--flag=v", "-n",
		"a\nb", "é漢", "\x01\xff", "{a,b}", "=ls", "a;b", "&", "|", ">x", "[a-z]", "^", "%1",
	}
	for _, shell := range []string{"sh", "bash", "zsh", "dash"} {
		path, err := exec.LookPath(shell)
		if err != nil {
			continue
		}
		text := commandText(append([]string{"printf", `%s\0`}, words...))
		out, err := exec.Command(path, "-c", text).Output()
		if err != nil {
			t.Fatalf("%s: %v", shell, err)
		}
		if got := strings.Join(words, "\x00") + "\x00"; string(out) != got {
			t.Errorf("%s takes %s apart as %q", shell, text, out)
		}
	}
	if got := commandText([]string{"ls | wc -l"}); got != "ls | wc -l" {
		t.Errorf("one argument became %q", got)
	}
	if got := commandText([]string{"rg", "-n", "--glob=x", "src/"}); got != "rg -n --glob=x src/" {
		t.Errorf("plain words became %q", got)
	}
	if got := commandText([]string{"A=1", "x"}); got != "'A=1' x" {
		t.Errorf("a program called A=1 became %q", got)
	}
}

// signalName and signalNumber speak of the same signals.
func TestSignalNames(t *testing.T) {
	for name, s := range signals {
		if signalName(s) == "" || signalNumber(name) != int(s) || signalNumber(strings.TrimPrefix(name, "SIG")) != int(s) {
			t.Errorf("%s is %d", name, signalNumber(name))
		}
	}
	if got := signalCode("SIGNOTHING"); got != 128 {
		t.Errorf("an unknown signal is %d", got)
	}
}
