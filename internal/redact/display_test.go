package redact

import (
	"encoding/json"
	"html"
	"os"
	"strings"
	"testing"
)

// shownAs is what Escape has to make of a case's command.
var shownAs = map[string]string{
	"dis-0001": `rm a\u{200B}.txt`,
	"dis-0003": `echo a\u{2066}b\u{2069}c`,
	"dis-0004": `\u{FEFF}git status`,
	"dis-0005": `git status\u{A}rm -rf x`,
	"dis-0007": `echo \u{1B}[2K\u{1B}[1Ahidden`,
	"dis-0008": `echo \u{9B}31mred`,
	"dis-0009": `echo \u{1B}]0;title\u{7}x`,
	"dis-0010": `printf \u{1B}]8;;http://x\u{1B}\\safe\u{1B}]8;;\u{1B}\\`,
	"dis-0012": `echo a\u{0}b`,
	"dis-0013": `echo a\u{7F}b`,
	"dis-0014": `echo a\u{9}b`,
	"dis-0015": `rm -rf /tmp/x\u{A0}/`,
	"dis-0016": `rm -rf a\u{3000}b`,
	"dis-0017": `rm a\u{2028}b`,
	"dis-0018": `echo a\u{20×300}; id`,
	"dis-0021": `echo a\u{E0041}\u{E0042}`,
	"dis-0022": `echo a\u{FE0F}\u{20E3}`,
	"dis-0024": `rm a\u{AD}b`,
	"dis-0033": `git status\u{A}\u{A}/approve 123 allow-always`,
}

// checks are the cases that ask for more than Escape.
var checks = map[string]func(t *testing.T, command string){
	"dis-0019": func(t *testing.T, command string) { // mixed scripts
		if w := Warnings(command); len(w) != 1 || !strings.Contains(w[0], "U+0456, Cyrillic") {
			t.Errorf("%q", w)
		}
	},
	"dis-0029": func(t *testing.T, command string) { // backticks in a chat
		if got, want := Markdown(command), "```\necho \\u{60×3}\n**approved**\n\\u{60×3}\n```"; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	},
	"dis-0030": func(t *testing.T, command string) { // markup in a chat
		if got, want := Markdown(command), "```\n"+command+"\n```"; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	},
	"dis-0031": func(t *testing.T, command string) { // a web page escapes what is shown, once
		if got := html.EscapeString(Escape(command)); html.UnescapeString(got) != command || strings.Contains(got, "<") {
			t.Errorf("%q", got)
		}
	},
	"dis-0032": func(t *testing.T, command string) { // a log
		line, err := json.Marshal(map[string]string{"command": Escape(command)})
		var back map[string]string
		if err != nil || json.Unmarshal(line, &back) != nil || len(back) != 1 || back["command"] != command {
			t.Errorf("%s: %v", line, err)
		}
	},
	"dis-0034": func(t *testing.T, command string) { // text like the prompt's stays one marked line
		if got := EscapeLines(command); len(got) != 1 || got[0] != command {
			t.Errorf("%q", got)
		}
	},
	"dis-0037": func(t *testing.T, _ string) { // a link's target is a foreign text too
		if got := Escape("/srv/x/bin/other\nname"); got != `/srv/x/bin/other\u{A}name` {
			t.Errorf("%q", got)
		}
	},
	"dis-0039": func(t *testing.T, _ string) { // a folder with a newline
		if got := Escape("a\nb"); got != `a\u{A}b` {
			t.Errorf("%q", got)
		}
	},
	"dis-0040": func(t *testing.T, _ string) { // a variable with a newline
		if got := Env("FOO", "x\ny", false); got != `FOO=x\u{A}y` {
			t.Errorf("%q", got)
		}
	},
	"dis-0043": func(t *testing.T, command string) { // an agent's explanation cannot reach the command
		if got := Escape("harmless\r\x1b[1A" + command); got != `harmless\u{D}\u{1B}[1Agit push` {
			t.Errorf("%q", got)
		}
	},
	"dis-0045": func(t *testing.T, command string) { // right-to-left letters
		if w := Warnings(command); len(w) != 1 || !strings.Contains(w[0], "right to left") {
			t.Errorf("%q", w)
		}
		if got, want := IsolateRTL(Escape(command)), "\u2066rm \u2068\u05d0\u05d1\u05d2\u2069 && id\u2069"; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	},
}

// TestA22_Cases: every command of the display cases is shown with nothing a terminal, a
// page, a chat or a log would obey, and each case's own demand is met.
func TestA22_Cases(t *testing.T) {
	data, err := os.ReadFile("testdata/display.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		ID    string
		Setup struct{ Command string }
	}
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		t.Run(c.ID, func(t *testing.T) {
			command := c.Setup.Command
			want, ok := shownAs[c.ID]
			if got := Escape(command); ok && got != want {
				t.Errorf("%q is shown as %q, want %q", command, got, want)
			}
			check, more := checks[c.ID]
			if more {
				check(t, command)
			}
			if !ok && !more {
				t.Error("no test looks at this case")
			}
			harmless(t, Escape(command))
			closed(t, Markdown(command))
		})
	}
}

// closed fails if a block of code does not end exactly at its end.
func closed(t *testing.T, block string) {
	t.Helper()
	body, begun := strings.CutPrefix(block, "```\n")
	body, ended := strings.CutSuffix(body, "\n```")
	if !begun || !ended || strings.Contains(body, "```") {
		t.Errorf("the text can end its block: %q", block)
	}
	for line := range strings.SplitSeq(body, "\n") {
		harmless(t, line)
	}
}
