package service

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files anew")

// odd is a Spec in which everything needs an escape.
func odd() Spec {
	return Spec{
		Program:  `/opt/my tools/100%/op$HOME{en};claw`,
		Args:     []string{"gateway", "run", "", "it's", ";", "a<b>&c", `$$`, "%h", "naïve"},
		Env:      map[string]string{"OPENCLAW_STATE_DIR": `/data/50% "of" \it`, "OPENCLAW_CONFIG_PATH": "/etc/a&b $HOME.json"},
		StateDir: `/data/50% "of" --> \it`,
		Log:      "/data/a & b.log",
	}
}

func plain() Spec {
	return Spec{
		Program: "/usr/local/bin/openclaw", Args: []string{"gateway", "run", "--banner=false"},
		StateDir: "/home/ann/.openclaw", Log: "/home/ann/.openclaw/gateway.log",
	}
}

func TestTexts(t *testing.T) {
	for name, spec := range map[string]Spec{"plain": plain(), "odd": odd()} {
		for ext, write := range map[string]func(Spec) (string, error){"service": UnitText, "plist": PlistText} {
			got, err := write(spec)
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join("testdata", name+"."+ext)
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("%s differs (go test -update writes it anew):\n%s", path, got)
			}
			if dir, err := parseHeader(got); err != nil || dir != spec.StateDir {
				t.Errorf("%s: state directory %q, %v", path, dir, err)
			}
		}
	}
}

// What systemd itself says of the unit; a warning is a fault, too.
func TestSystemdTakesTheUnit(t *testing.T) {
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		t.Skip("systemd-analyze is not installed")
	}
	for name, spec := range map[string]Spec{"plain": plain(), "odd": odd()} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			spec.Program = filepath.Join(dir, filepath.Base(spec.Program)) // it has to be there
			if err := os.WriteFile(spec.Program, []byte("#!/bin/sh\n"), 0o700); err != nil {
				t.Fatal(err)
			}
			text, err := UnitText(spec)
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(dir, unitName)
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command("systemd-analyze", "verify", "--user", path)
			cmd.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+dir)
			if out, err := cmd.CombinedOutput(); err != nil || strings.Contains(string(out), unitName) {
				t.Errorf("%v\n%s\n%s", err, out, text)
			}
		})
	}
}

// What a reader of property lists reads back.
func TestPlistReadsBack(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not installed")
	}
	spec := odd()
	text, err := PlistText(spec)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(python, "-c", "import json, plistlib, sys; json.dump(plistlib.loads(sys.stdin.buffer.read()), sys.stdout)")
	cmd.Stdin = strings.NewReader(text)
	var errOut bytes.Buffer
	cmd.Stderr = &errOut
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, &errOut)
	}
	var got struct {
		Label                string
		ProgramArguments     []string
		EnvironmentVariables map[string]string
		RunAtLoad            bool
		AbandonProcessGroup  bool
		KeepAlive            map[string]bool
		StandardErrorPath    string
	}
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatal(err)
	}
	if got.Label != agentLabel || !got.RunAtLoad || !got.AbandonProcessGroup || got.StandardErrorPath != spec.Log ||
		!reflect.DeepEqual(got.ProgramArguments, append([]string{spec.Program}, spec.Args...)) ||
		!reflect.DeepEqual(got.EnvironmentVariables, spec.Env) || !reflect.DeepEqual(got.KeepAlive, map[string]bool{"SuccessfulExit": false}) {
		t.Errorf("read back as %+v", got)
	}
}

func TestSpecRefuses(t *testing.T) {
	for name, change := range map[string]func(*Spec){
		"a relative program":      func(s *Spec) { s.Program = "openclaw" },
		"a relative state folder": func(s *Spec) { s.StateDir = "state" },
		"a line break":            func(s *Spec) { s.Args = []string{"a\nExecStartPre=/bin/evil"} },
		"a zero byte":             func(s *Spec) { s.Env = map[string]string{"A": "b\x00c"} },
		"no UTF-8":                func(s *Spec) { s.Program = "/opt/\xff" },
		"an odd name":             func(s *Spec) { s.Env = map[string]string{"A B": "c"} },
		"a name with a digit":     func(s *Spec) { s.Env = map[string]string{"1A": "c"} },
		"a foreign letter":        func(s *Spec) { s.Env = map[string]string{"Ä": "c"} },
		"no name":                 func(s *Spec) { s.Env = map[string]string{"": "c"} },
	} {
		spec := plain()
		change(&spec)
		if _, err := UnitText(spec); err == nil {
			t.Errorf("%s: the unit takes it", name)
		}
		if _, err := PlistText(spec); err == nil {
			t.Errorf("%s: the property list takes it", name)
		}
	}
}

// systemd refuses these in the path of a program, whatever stands around them.
func TestUnitRefusesQuotesInTheProgram(t *testing.T) {
	for _, c := range `"'\` {
		spec := plain()
		spec.Program += string(c)
		if _, err := UnitText(spec); err == nil {
			t.Errorf("the unit takes %s", spec.Program)
		}
	}
}

// unitRead splits a command line as systemd.service(5) and systemd.syntax(7) say.
func unitRead(t *testing.T, line string) []string {
	t.Helper()
	var words []string
	var word strings.Builder
	open, quoted := false, false
	flush := func() {
		if open {
			words = append(words, strings.ReplaceAll(word.String(), "%%", "%"))
		}
		word.Reset()
		open = false
	}
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == '\\':
			i++
			if i == len(line) || line[i] != '\\' && line[i] != '"' {
				t.Fatalf("an escape that nothing here writes in %q", line)
			}
			word.WriteByte(line[i])
		case c == '"':
			quoted, open = !quoted, true
		case c == ' ' && !quoted:
			flush()
		default:
			open = true
			word.WriteByte(c)
		}
	}
	if quoted {
		t.Fatalf("an open quote in %q", line)
	}
	flush()
	return words
}

func FuzzUnitCommand(f *testing.F) {
	f.Add("/bin/a b", `\"%$`, "")
	f.Add("/opt/$x", "%%h", ";")
	f.Fuzz(func(t *testing.T, a, b, c string) {
		spec := Spec{Program: "/" + a, Args: []string{b, c}, StateDir: "/s"}
		if spec.check() != nil {
			t.Skip("no definition can hold it")
		}
		argv := append([]string{spec.Program}, spec.Args...)
		line := unitCommand(argv)
		if strings.Contains(strings.Join(argv, ""), "$") {
			if !strings.HasPrefix(line, ":") {
				t.Fatalf("%q would replace variables", line)
			}
			line = line[1:]
		}
		if got := unitRead(t, line); !reflect.DeepEqual(got, argv) {
			t.Errorf("%q is read as %q, want %q", line, got, argv)
		}
	})
}

func FuzzParseHeader(f *testing.F) {
	f.Add("# " + writtenBy + "\n# " + stateOf + `"/a"`)
	f.Add(writtenBy + "\n" + stateOf + `"\x`)
	f.Fuzz(func(t *testing.T, text string) {
		dir, err := parseHeader(text)
		if (err == nil) != filepath.IsAbs(dir) {
			t.Errorf("%q, %v", dir, err)
		}
		if spec := (Spec{Program: "/p", StateDir: "/" + text}); spec.check() == nil {
			for _, prefix := range []string{"# ", "     "} {
				if got, err := parseHeader(spec.header(prefix)); len(text) < 500 && (err != nil || got != spec.StateDir) {
					t.Errorf("%q is read as %q, %v", spec.StateDir, got, err)
				}
			}
		}
	})
}
