//go:build unix

package shell

import (
	"bytes"
	"context"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// bashWords asks real bash for the words of a command: the command's program is replaced
// by a function that prints its arguments, each behind a byte that no word holds. ok is
// false when bash does not run exactly that one command.
func bashWords(t *testing.T, bash, dir, text string) (words []string, ok bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, bash, "--noprofile", "--norc", "-f", "-c", text) // -f: patterns stay as they are
	cmd.Dir = filepath.Join(dir, "empty")
	cmd.Env = []string{"PATH=" + dir, "LANG=C.UTF-8", "HOME=/home/somebody"}
	var out bytes.Buffer
	cmd.Stdout = &out
	if err := cmd.Run(); err != nil {
		return nil, false
	}
	lines := strings.Split(out.String(), "\x01")
	if len(lines) < 2 || lines[0] != "" || lines[len(lines)-1] != "\n" {
		return nil, false
	}
	return lines[1 : len(lines)-1], true
}

// wordPrinter makes a directory with one program, w, that prints its arguments.
func wordPrinter(t *testing.T) (bash, dir string) {
	t.Helper()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("needs bash")
	}
	dir = t.TempDir()
	script := "#!" + bash + "\nfor a; do printf '\\001%s' \"$a\"; done\nprintf '\\001\\n'\n"
	if err := os.WriteFile(filepath.Join(dir, "w"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "empty"), 0o700); err != nil {
		t.Fatal(err)
	}
	return bash, dir
}

// differ compares our reading of one simple command "w ..." with bash's. It returns what
// differs, "" = nothing, or we did not understand the text.
func differ(t *testing.T, bash, dir, text string) string {
	t.Helper()
	s := Analyze(text)
	if !s.Understood() || len(s.Calls) != 1 || s.Root.Kids[0].Kind != KindCall {
		return ""
	}
	var want []string
	for _, w := range s.Calls[0].Words {
		if !w.Lit {
			flat, ok := flatten(w)
			if !ok {
				return ""
			}
			w.Text = flat
		}
		want = append(want, w.Text)
	}
	if want[0] != "w" {
		return ""
	}
	got, ok := bashWords(t, bash, dir, text)
	if !ok {
		return "bash does not run one command"
	}
	if strings.Join(got, "\x01") != strings.Join(want[1:], "\x01") || len(got) != len(want)-1 {
		return strings.Join(got, "|") + " in bash, here " + strings.Join(want[1:], "|")
	}
	return ""
}

// flatten is the value of a word in which only braces, the home directory and patterns
// that match nothing were expanded.
func flatten(w Word) (string, bool) {
	var b strings.Builder
	for _, p := range w.Parts {
		switch p.Kind {
		case PartText, PartGlob:
			b.WriteString(p.Text)
		case PartTilde:
			b.WriteString("/home/somebody")
		default:
			return "", false
		}
	}
	return b.String(), true
}

func TestP20_WordsAsBash(t *testing.T) {
	bash, dir := wordPrinter(t)
	for _, text := range []string{
		`w a b  c`, `w 'a b' "c d" e\ f`, `w $'a\tb\x41\101\u00e9\'' x`, `w a"b"'c'\d`, "w a\\\nb \"c\\\nd\"", `w "a\$b\"c\\d\e"`,
		`w ''`, `w "" '' x`, `w a{b,c}d`, `w {1..3} {a..c} {01..03} {1..10..4} {3..1}`, `w {a,b}{c,d}`, `w a{b`, `w {a}`, `w {}`, `w {,x}`,
		`w {a,"b,c"} {a\,b,c}`, `w ~ ~/x a~ "~" '~' \~`, `w --x=~/y x:~`, `w a=b`, `w -x=y#z #comment`, `w a#b`, `w '#'`, `w *nomatch? [`,
		`w $`, `w a$ "$" "a$"`, `w '$x' \$x`, `w !`, `w a!b`, `w \!`, `w %1`, `w ^a^b`, `w a,b {`, `w }`, `w [a]`, `w ]`, `w "a'b" 'a"b'`,
		`w $'\q\?\e[0m'`, `w a\
b`, "w\ta\t\tb", "w a;", "w a # b", `w "a
b"`, `w 'a
b'`, `w \\ \\\\ \'`, `w {a,b,}`, `w {x,{y,z}}`, `w {a..z..13}`, `w -{a,b}`, `w {1..2}{a,b}`, `w {"a b",c}`, `w {a,b c}`, `w "{a,b}"`, `w \{a,b}`,
		`w {a\}b,c}`, `w a{1..}`, `w {a..1}`, `w {-1..1}`, `w {1..3..0}`, `w {A..c}`, `w {1.5..2}`, `w a={b,c}`, "w ..{\\\\\\\n!", "w \"a\\\\\\\nb\"", "w a\\\\\\\nb", "w #a\\\nw", `w é 中 😀`, "w a\u00a0b",
	} {
		if d := differ(t, bash, dir, text); d != "" {
			t.Errorf("%q: %s", text, d)
		}
	}
}

// TestP20_RandomWordsAsBash puts pieces together at random. Whatever we understand, bash
// must read in the same way.
func TestP20_RandomWordsAsBash(t *testing.T) {
	bash, dir := wordPrinter(t)
	pieces := []string{
		"a", "b", "-", "=", "~", "/", "{", "}", ",", "..", "1", "3", "'", "\"", "\\", "$", "$'", " ", "  ", "\t", "\n", "\\\n", "*", "?", "[", "]",
		"!", "#", "%", ":", "a=", "\\x41", "\\n", "\\'", "é", "{a,b}", "{1..3}", "'x y'", "\"x y\"", "$'\\t'", "~/", "^", "@", "+", ".", "|", "&", ";", "(", ")", "<", ">", "`", "w ",
	}
	rounds := 1500
	if testing.Short() {
		rounds = 200
	}
	seed := uint64(20)
	if v, err := strconv.ParseUint(os.Getenv("OPENCLAW_TEST_SEED"), 10, 64); err == nil {
		seed = v
	}
	rnd := rand.New(rand.NewPCG(seed, seed))
	understood := 0
	for range rounds {
		text := "w "
		for range 1 + rnd.IntN(8) {
			text += pieces[rnd.IntN(len(pieces))]
		}
		if !Analyze(text).Understood() {
			continue
		}
		understood++
		if d := differ(t, bash, dir, text); d != "" {
			t.Errorf("%q: %s", text, d)
		}
	}
	if understood < rounds/10 {
		t.Errorf("only %d of %d texts were understood: the test says little", understood, rounds)
	}
}
