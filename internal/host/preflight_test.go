package host

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestX17_Slips(t *testing.T) {
	for _, c := range []struct {
		name, command, text string
		line                int // 0 = no slip
	}{
		{"python variable", "python f", "import os\nprint(x)\n$HOME/bin\n", 3},
		{"python variable in an expression", "python3 f", "path = $HOME + '/x'\n", 1},
		{"python braces", "python3.12 f", "p = ${HOME}\n", 1},
		{"python substitution", "/usr/bin/python3 f", "d = $(date)\n", 1},
		{"python export", "python -u -X dev f", "export FOO=bar\n", 1},
		{"python export of a string", "A=1 python f", `export FOO="bar"`, 1},
		{"python test", "python f", "if [ -f x ]; then\n", 1},
		{"python loop", "python f", "x = 1\nfor i in a b c; do\n", 2},
		{"python fi", "python f", "if x:\n    pass\nfi\n", 3},
		{"python echo", "python f", "echo \"hi\"\n", 1},
		{"python pipefail", "python f", "set -euo pipefail\n", 1},
		{"python behind a string", "python f", "s = '''\nexport A=1\n'''\nexport A=1\n", 4},

		{"python clean", "python f", "import os\nx = {'a': 1}\nprint(f\"{x['a']}\")\nif x: pass\n", 0},
		{"python docstring", "python f", "\"\"\"Usage:\n  export FOO=bar\n$HOME\nfi\n\"\"\"\n", 0},
		{"python string", "python f", "s = '$HOME'\nt = \"$(date)\"\nu = r'\\$X'\n", 0},
		{"python comment", "python f", "# export A=1\nx = 1  # $HOME don't\n", 0},
		{"python f-string", "python f", "print(f\"{d[\"$HOME\"]} {{$x}} {y:>10} {z!r}\")\nprint(f'{a:{w}} $x')\n", 0},
		{"python f-string over lines", "python f", "x = f'''{a} $HOME\n{b[\"c\"]} $(x)\nexport A=1\n'''\n", 0},
		{"python escaped quote", "python f", "s = 'it\\'s $HOME'\nt = r'\\' + '$HOME'\n", 0},
		{"python string continued", "python f", "s = 'a \\\n$HOME \\\nfi'\n", 0},
		{"python name in brackets", "python f", "x = (\nfi\n)\n", 0},
		{"python name continued", "python f", "x = \\\nfi\n", 0},
		{"python template", "python f", "from string import Template\nTemplate('$who').substitute(who=1)\n", 0},
		{"python regex", "python f", "import re\nre.match(r\"^\\$\\{(\\w+)\\}$\", s)\n", 0},
		{"python polyglot", "python f", "#!/bin/sh\n''':'\nexec python3 \"$0\" \"$@\"\n'''\n", 0},
		{"python broken string is python's to tell", "python f", "s = 'abc\n$HOME\n", 0},
		{"python bytes", "python f", "b = b'$X' + rb\"$Y\"\n", 0},

		{"node export", "node f.js", "const a = 1;\nexport FOO=bar\n", 2},
		{"node echo", "node --no-warnings f.js", "echo \"hi\"\n", 1},
		{"node test", "nodejs f.js", "if [ -f x ]; then\n", 1},
		{"node fi", "node -r ./x f.js", "fi\n", 1},
		{"node variable", "node f.js", "const x = 1\n$HOME\n", 2},
		{"node variable in braces", "node f.js", "${HOME}\n", 1},
		{"node pipefail", "node f.js", "#!/usr/bin/env node\nset -euo pipefail\n", 2},
		{"node behind a template", "node f.js", "const a = `${b ? `x${c}` : '}'}`;\nexport A=1\n", 2},
		{"node behind a regular expression", "node f.js", "const r = /[\"'`/]/g, q = a / b / c\nexport A=1\n", 2},

		{"node template", "node f.js", "const s = `\nexport FOO=bar\nfi\n$HOME\n${a + `\nfi\n`}\nfi\n`;\n", 0},
		{"node module", "node f.mjs", "export const A=1;\nexport default x;\nexport { y };\nexport * from 'z';\n", 0},
		{"node jquery", "node f.js", "const $ = require('jquery');\n$('#x').hide();\n$(document).ready(f)\n", 0},
		{"node dollar name", "node f.js", "let $EL = 1\n$EL\n", 0},
		{"node comment", "node f.js", "/*\nexport A=1\nfi\n*/\n// $HOME don't\n", 0},
		{"node string", "node f.js", "exec('export A=1; fi')\nconst s = 'a \\\nexport A=1'\n", 0},
		{"node in an object", "node f.js", "x = {\nfi\n}\n", 0},
		{"node broken string is node's to tell", "node f.js", "s = 'abc\nexport A=1\n", 0},

		{"not the first command", "true && python f", "$HOME\n", 0},
		{"code on the line", "python -c f", "$HOME\n", 0},
		{"code bundled", "python -uc f", "$HOME\n", 0},
		{"module", "python -m f", "$HOME\n", 0},
		{"node eval", "node -e f.js", "$HOME\n", 0},
		{"stdin", "python - f", "$HOME\n", 0},
		{"expanded", "python $F", "$HOME\n", 0},
		{"other program", "pythonista f", "$HOME\n", 0},
		{"bash", "bash f", "$HOME\n", 0},
		{"in quotes", "'python' \"f\" --flag > out", "$HOME\n", 1},
		{"then a pipe", "python f|cat", "$HOME\n", 1},
		{"empty", "python f", "", 0},
		{"carriage returns", "python f", "x = 1\r\nexport A=1\r\n", 2},
	} {
		dir := t.TempDir()
		for _, name := range []string{"f", "f.js", "f.mjs"} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		slip := Preflight(c.command, dir)
		switch {
		case slip == nil && c.line == 0:
		case slip == nil || slip.Line != c.line:
			t.Errorf("%s: %v, want line %d", c.name, slip, c.line)
		case slip.Text != strings.TrimSpace(strings.Split(c.text, "\n")[c.line-1]) || slip.Cause == "" || !strings.Contains(slip.Error(), slip.File):
			t.Errorf("%s: %v", c.name, slip)
		}
	}
}

func TestX17_OnlyFilesInside(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	for _, path := range []string{outside + "/bad.py", dir + "/bad.py"} {
		if err := os.WriteFile(path, []byte("export A=1\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, err := range []error{os.Symlink(outside+"/bad.py", dir+"/link.py"), os.Symlink(dir, outside+"/dirlink"), os.Mkdir(dir+"/d.py", 0o700)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		file, dir string
		want      bool
	}{
		{"bad.py", dir, true},
		{"./bad.py", dir, true},
		{dir + "/bad.py", dir, true},
		{"bad.py", outside + "/dirlink", true},
		{outside + "/bad.py", dir, false},
		{"../" + filepath.Base(outside) + "/bad.py", dir, false},
		{"link.py", dir, false},
		{"d.py", dir, false},
		{"missing.py", dir, false},
		{"bad.py", dir + "/gone", false},
	} {
		if slip := Preflight("python3 "+c.file, c.dir); (slip != nil) != c.want {
			t.Errorf("%s in %s: %v", c.file, c.dir, slip)
		}
	}
}

func TestX17_LongFile(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"early.py": "export A=1\n" + strings.Repeat("x = 1\n", preflightBytes),
		"late.py":  strings.Repeat("x = 1\n", preflightBytes) + "export A=1\n",
		"deep.py":  strings.Repeat("f\"{", preflightBytes/3),
		"deep.js":  strings.Repeat("`${", preflightBytes/3),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	begin := time.Now()
	for command, want := range map[string]bool{"python early.py": true, "python late.py": false, "python deep.py": false, "node deep.js": false} {
		if slip := Preflight(command, dir); (slip != nil) != want {
			t.Errorf("%s: %v", command, slip)
		}
	}
	if took := time.Since(begin); took > 5*time.Second {
		t.Errorf("took %s", took)
	}
}

func FuzzX17_Scan(f *testing.F) {
	f.Add("x = f'{a:{b}}'\nexport A=1\n")
	f.Add("const a = `${b}`; /[/]/\n$HOME\n")
	f.Fuzz(func(t *testing.T, text string) {
		lines := strings.Count(text, "\n") + 1
		for _, find := range []func(string, bool) (int, string){pythonSlip, nodeSlip} {
			if line, cause := find(text, true); line < 0 || line > lines || (line > 0) != (cause != "") {
				t.Fatalf("line %d of %d, cause %q", line, lines, cause)
			}
		}
	})
}

func FuzzX17_Words(f *testing.F) {
	f.Add(`A=1 "python3" f\ x | cat`, "/tmp")
	f.Fuzz(func(t *testing.T, command, dir string) {
		for _, w := range plainWords(command) {
			if len(w) > len(command) {
				t.Fatal("a word longer than the command")
			}
		}
	})
}
