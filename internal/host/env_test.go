package host

import (
	"slices"
	"testing"
)

func TestX8_BaseEnv(t *testing.T) {
	in := []string{
		"PATH=/daemon", "TERM=xterm", "OPENCLAW_GATEWAY_TOKEN=geheim", "OPENCLAW_API_KEY=geheim", "OPENCLAW_ANYTHING=x",
		"OPENCLAW_STATE_DIR=/s", "OPENCLAW_CONFIG_PATH=/c", "OPENCLAW_SHELL=forged", "OPENCLAW_PROCESS_SESSION=outer",
		"BASH_ENV=/x", "ENV=/x", "NOTIFY_SOCKET=/x", "LISTEN_FDS=1", "CREDENTIALS_DIRECTORY=/x", "PWD=/gone", "OLDPWD=/x",
		"broken", "=C:=x", "EMPTY=", "GITHUB_TOKEN=operators-own",
	}
	before := slices.Clone(in)
	want := []string{"TERM=xterm", "OPENCLAW_STATE_DIR=/s", "OPENCLAW_CONFIG_PATH=/c", "EMPTY=", "GITHUB_TOKEN=operators-own", "HOME=/h", "OPENCLAW_SHELL=exec"}
	if got := BaseEnv(in, "/h"); !slices.Equal(got, want) {
		t.Errorf("BaseEnv:\n got %q\nwant %q", got, want)
	}
	if !slices.Equal(in, before) {
		t.Error("BaseEnv changed its argument")
	}
	if got := BaseEnv([]string{"HOME=/own"}, "/h"); !slices.Equal(got, []string{"HOME=/own", "OPENCLAW_SHELL=exec"}) {
		t.Errorf("HOME is replaced: %q", got)
	}
	if got := BaseEnv(nil, ""); !slices.Equal(got, []string{"OPENCLAW_SHELL=exec"}) {
		t.Errorf("no HOME: %q", got)
	}
}

func TestSetEnv(t *testing.T) {
	env := []string{"A=1", "AB=2", "B="}
	env = setEnv(env, "A", "x")
	env = setEnv(env, "B", "y")
	env = setEnv(env, "C", "z=z")
	if want := []string{"A=x", "AB=2", "B=y", "C=z=z"}; !slices.Equal(env, want) {
		t.Errorf("%q, want %q", env, want)
	}
	if got := getenvFrom([]string{"A=1", "A=2", "x"})("A"); got != "2" {
		t.Errorf("A = %q", got)
	}
}

func TestX11_ExpandPrepend(t *testing.T) {
	dirs, warnings := expandPrepend([]string{"~/bin", "~", "/a", "rel", "", "/b:/c", "~other/bin", "$HOME/bin"}, "/h")
	if want := []string{"/h/bin", "/h", "/a"}; !slices.Equal(dirs, want) || len(warnings) != 5 {
		t.Errorf("%q, warnings %q", dirs, warnings)
	}
	if dirs, warnings := expandPrepend([]string{"~/bin"}, ""); len(dirs) != 0 || len(warnings) != 1 {
		t.Errorf("without a home: %q, %q", dirs, warnings)
	}
}

func TestX11_MergePath(t *testing.T) {
	got := mergePath([]string{"/b", "/a/", ""}, []string{"/a", ".", "rel", "/c", "/b/"}, []string{"/d", "/", "/c"})
	if want := []string{"/b", "/a/", "/c", "/d", "/"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
