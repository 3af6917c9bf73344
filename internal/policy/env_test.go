package policy

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
)

func TestX10_CheckEnv(t *testing.T) {
	const (
		pass   = iota
		judged // refused only for judged commands
		always
	)
	for _, c := range []struct {
		name, value string
		want        int
		becomes     string // when it passes; "" = value
	}{
		{"PATH", "/tmp", always, ""},
		{"LD_PRELOAD", "x.so", always, ""},
		{"LD_", "", always, ""},
		{"DYLD_INSERT_LIBRARIES", "x", always, ""},
		{"LD_PAGER", "cat", always, ""},
		{"OPENCLAW_PAGER", "", always, ""},
		{"OPENCLAW_SHELL", "x", always, ""},
		{"OPENCLAW_PROCESS_SESSION", "", always, ""},
		{"OPENCLAW_STATE_DIR", "/tmp", always, ""},
		{"", "x", always, ""},
		{"1A", "x", always, ""},
		{"A-B", "x", always, ""},
		{"A B", "x", always, ""},
		{"A=B", "x", always, ""},
		{"BASH_FUNC_ls%%", "() { :; }", always, ""},
		{"ÄB", "x", always, ""},
		{"A\x00", "x", always, ""},
		{"OK", "a\x00b", always, ""},

		{"BASH_ENV", "x", judged, ""},
		{"ENV", "x", judged, ""},
		{"BASH_FUNC_ls", "() { :; }", judged, ""},
		{"ANYTHING", "() { :; }", judged, ""},
		{"NODE_OPTIONS", "--require x", judged, ""},
		{"PYTHONSTARTUP", "x", judged, ""},
		{"PYTHONPATH", "x", judged, ""},
		{"PYTHONHOME", "x", judged, ""},
		{"PERL5OPT", "x", judged, ""},
		{"PERL5DB", "x", judged, ""},
		{"RUBYOPT", "x", judged, ""},
		{"GIT_SSH_COMMAND", "x", judged, ""},
		{"GIT_SSH", "x", judged, ""},
		{"GIT_EXTERNAL_DIFF", "x", judged, ""},
		{"GIT_CONFIG_COUNT", "1", judged, ""},
		{"GIT_CONFIG", "x", judged, ""},
		{"GIT_EXEC_PATH", "x", judged, ""},
		{"GIT_ASKPASS", "x", judged, ""},
		{"GIT_DIR", "x", judged, ""},
		{"SUDO_ASKPASS", "x", judged, ""},
		{"EDITOR", "x", judged, ""},
		{"KUBE_EDITOR", "x", judged, ""},
		{"GIT_SEQUENCE_EDITOR", "x", judged, ""},
		{"VISUAL", "x", judged, ""},
		{"BROWSER", "x", judged, ""},
		{"LESSOPEN", "|x", judged, ""},
		{"PROMPT_COMMAND", "x", judged, ""},
		{"IFS", ":", judged, ""},
		{"SHELLOPTS", "xtrace", judged, ""},
		{"BASHOPTS", "x", judged, ""},
		{"PS4", "$(x)", judged, ""},
		{"JAVA_TOOL_OPTIONS", "x", judged, ""},
		{"_JAVA_OPTIONS", "x", judged, ""},
		{"MAVEN_OPTS", "x", judged, ""},
		{"GOFLAGS", "-toolexec=x", judged, ""},
		{"CARGO_BUILD_RUSTC", "x", judged, ""},
		{"CARGO_HOME", "x", judged, ""},
		{"RUSTC_WRAPPER", "x", judged, ""},
		{"MAKEFLAGS", "x", judged, ""},
		{"ZDOTDIR", "x", judged, ""},
		{"FPATH", "x", judged, ""},
		{"CDPATH", "x", judged, ""},
		{"GCONV_PATH", "x", judged, ""},
		{"MALLOC_TRACE", "x", judged, ""},
		{"GLIBC_TUNABLES", "x", judged, ""},
		{"HOME", "/tmp", judged, ""},
		{"XDG_CONFIG_HOME", "/tmp", judged, ""},
		{"TAR_OPTIONS", "--checkpoint-action=exec=x", judged, ""},
		{"npm_config_script_shell", "x", judged, ""},
		{"PAGER", "less", judged, ""},
		{"GIT_PAGER", "sh -c x", judged, ""},
		{"MANPAGER", "cat ", judged, ""},
		{"AWS_PAGER", "x", judged, ""},

		{"PAGER", "cat", pass, "empty"},
		{"GIT_PAGER", "", pass, "empty"},
		{"MANPAGER", "cat", pass, "empty"},
		{"GIT_AUTHOR_NAME", "me", pass, ""},
		{"GIT_TERMINAL_PROMPT", "0", pass, ""},
		{"FOO", "$(x)", pass, ""},
		{"TMPDIR", "/tmp", pass, ""},
		{"LANG", "C", pass, ""},
		{"PYTHONUNBUFFERED", "1", pass, ""},
		{"path", "x", pass, ""}, // names are case-sensitive on Unix
		{"Ld_Preload", "x", pass, ""},
		{"CI", "true", pass, ""},
	} {
		for _, isJudged := range []bool{false, true} {
			clean, err := CheckEnv(map[string]string{c.name: c.value}, isJudged)
			refused := c.want == always || c.want == judged && isJudged
			if refused {
				var envErr *EnvError
				if !errors.As(err, &envErr) || envErr.Name != c.name || envErr.Always != (c.want == always) {
					t.Errorf("CheckEnv(%q=%q, judged=%v) = %v, want a refusal", c.name, c.value, isJudged, err)
				} else if !strings.Contains(err.Error(), "X-10") || strings.ContainsRune(err.Error(), 0) {
					t.Errorf("error text %q", err)
				}
				if clean != nil {
					t.Errorf("CheckEnv(%q) gave variables beside its error", c.name)
				}
				continue
			}
			want := c.value
			if c.becomes == "empty" {
				want = ""
			}
			if got, ok := clean[c.name]; err != nil || !ok || got != want {
				t.Errorf("CheckEnv(%q=%q, judged=%v) = %q, %v, want %q", c.name, c.value, isJudged, got, err, want)
			}
		}
	}
}

func TestX10_CheckEnvFold(t *testing.T) {
	for _, name := range []string{"Path", "path", "Ld_Preload", "openclaw_shell", "dyld_x"} {
		if _, err := CheckEnvFold(map[string]string{name: "x"}, false); err == nil {
			t.Errorf("%s passes where names ignore case", name)
		}
	}
	for _, name := range []string{"node_options", "ComSpec", "PathExt", "Git_Pager"} {
		if _, err := CheckEnvFold(map[string]string{name: "x"}, true); err == nil {
			t.Errorf("%s passes for a judged command where names ignore case", name)
		}
	}
	if _, err := CheckEnvFold(map[string]string{"Foo": "1", "FOO": "2"}, false); err == nil {
		t.Error("one variable in two spellings passes")
	}
	if clean, err := CheckEnvFold(map[string]string{"Git_Pager": "cat"}, true); err != nil || clean["Git_Pager"] != "" {
		t.Errorf("Git_Pager=cat: %v, %v", clean, err)
	}
}

func TestX10_CheckEnvCopiesAndIsStable(t *testing.T) {
	env := map[string]string{"B": "1", "PAGER": "cat"}
	clean, err := CheckEnv(env, true)
	if err != nil || env["PAGER"] != "cat" || !maps.Equal(clean, map[string]string{"B": "1", "PAGER": ""}) {
		t.Errorf("clean %v, env %v, err %v", clean, env, err)
	}
	if clean, err := CheckEnv(nil, true); clean != nil || err != nil {
		t.Errorf("no env: %v, %v", clean, err)
	}
	for range 20 { // the first in sorted order, whatever the map's order is
		_, err := CheckEnv(map[string]string{"PATH": "", "LD_X": "", "IFS": "", "ENV": ""}, true)
		var envErr *EnvError
		if !errors.As(err, &envErr) || envErr.Name != "ENV" {
			t.Fatalf("err = %v, want ENV", err)
		}
	}
}

func TestP60_Scrub(t *testing.T) {
	in := []string{
		"HOME=/root", "PATH=/usr/bin", "LD_PRELOAD=x", "BASH_ENV=/x", "OPENCLAW_SHELL=exec",
		"BASH_FUNC_ls%%=() { :; }", "OLD=() { :; }", "GIT_PAGER=cat", "PAGER=less", "TERM=dumb",
		"GIT_AUTHOR_NAME=me", "GIT_DIR=/x", "XDG_CONFIG_HOME=/c", "broken", "=x", "EMPTY=", "A=b=c",
	}
	before := slices.Clone(in)
	want := []string{
		"HOME=/root", "PATH=/usr/bin", "OPENCLAW_SHELL=exec", "GIT_PAGER=", "TERM=dumb",
		"GIT_AUTHOR_NAME=me", "XDG_CONFIG_HOME=/c", "EMPTY=", "A=b=c",
	}
	if got := Scrub(in); !slices.Equal(got, want) {
		t.Errorf("Scrub:\n got %q\nwant %q", got, want)
	}
	if !slices.Equal(in, before) {
		t.Error("Scrub changed its argument")
	}
}

// The small set that P-34 lets through must never be in the table.
func TestP34_SmallSetIsNotInTable(t *testing.T) {
	for _, name := range strings.Fields("TERM LANG LC_ALL LC_CTYPE COLORTERM NO_COLOR FORCE_COLOR") {
		for _, fold := range []bool{false, true} {
			if row := findEnvRow(name, fold); row != nil {
				t.Errorf("%s is refused: it %s", name, row.why)
			}
		}
	}
}

func FuzzX10_CheckEnv(f *testing.F) {
	f.Add("PATH", "x")
	f.Add("GIT_PAGER", "cat")
	f.Add("a\x00", "")
	f.Add("GIT_PAgER", "")
	f.Fuzz(func(t *testing.T, name, value string) {
		_, loose := CheckEnv(map[string]string{name: value}, false)
		clean, strict := CheckEnv(map[string]string{name: value}, true)
		if loose != nil && strict == nil {
			t.Fatal("a judged command takes what an unjudged one refuses")
		}
		_, folded := CheckEnvFold(map[string]string{name: value}, true)
		if strict != nil && folded == nil && !quietPager(name, value, true) { // GIT_PAgER=cat is a pager only there
			t.Fatal("folding case is looser")
		}
		if strict != nil {
			return
		}
		if _, again := CheckEnv(clean, true); again != nil {
			t.Fatal("its own answer is refused")
		}
		if strings.ContainsRune(name+value, 0) || strings.ContainsRune(name, '=') {
			t.Fatal("a variable that cannot exist passes")
		}
	})
}

func BenchmarkX10_CheckEnv(b *testing.B) {
	env := map[string]string{"CI": "1", "FOO_BAR": "x", "LANG": "C"}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := CheckEnv(env, true); err != nil {
			b.Fatal(err)
		}
	}
}
