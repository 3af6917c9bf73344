//go:build unix

package host

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// machineDir is a directory with the files given as path, mode and content; a mode of 0 is
// a link to content.
func machineDir(t *testing.T, files ...string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(files); i += 3 {
		path := filepath.Join(dir, files[i])
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		var mode os.FileMode
		if _, err := fmt.Sscanf(files[i+1], "%o", &mode); err != nil {
			t.Fatal(err)
		}
		content := strings.ReplaceAll(files[i+2], "{DIR}", dir)
		if mode == 0 {
			err = os.Symlink(content, path)
		} else if err = os.WriteFile(path, []byte(content), 0o600); err == nil {
			err = os.Chmod(path, mode)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const script = "#!/bin/sh\n"

func TestP32_InPath(t *testing.T) {
	dir := machineDir(
		t, "a/tool", "0644", script, "b/tool", "0755", script, "c/tool", "0755", script, "a/dir/x", "0644", "",
		"a/link", "0", "{DIR}/b/tool", "w/tool", "0755", script, "a/text", "0755", "no program",
	)
	path := dir + "/a:" + dir + "/b:" + dir + "/c"
	m := NewMachine(nil)
	f, err := m.InPath("tool", path, "")
	if err != nil || f.Path != dir+"/b/tool" || f.Real != f.Path || f.ID.Ino == 0 {
		t.Fatalf("%+v %v", f, err)
	}
	if again, err := m.InPath("tool", path, ""); err != nil || again != f {
		t.Errorf("the second look-up: %+v %v", again, err)
	}
	if f, err := m.InPath("link", path, ""); err != nil || f.Path != dir+"/a/link" || f.Real != dir+"/b/tool" {
		t.Errorf("a link: %+v %v", f, err)
	}
	for _, name := range []string{"dir", "none", "", "a/tool", "text"} {
		if f, err := m.InPath(name, path, ""); err == nil {
			t.Errorf("%q: %+v", name, f)
		}
	}
	for _, entry := range []string{"", ".", "w"} {
		base := dir + "/w"
		if entry == "w" {
			base = dir
		}
		if f, err := m.InPath("tool", entry+":"+path, base); err == nil {
			t.Errorf("the PATH entry %q finds %+v", entry, f)
		}
		if f, err := m.InPath("tool", entry+":"+path, ""); err == nil {
			t.Errorf("the PATH entry %q with no directory finds %+v", entry, f)
		}
		if _, err := m.InPath("tool", entry+":"+path, dir+"/none"); err != nil {
			t.Errorf("the PATH entry %q that finds nothing: %v", entry, err)
		}
	}
}

// TestP32_Changes: what was seen before is not believed once something has changed.
func TestP32_Changes(t *testing.T) {
	dir := machineDir(t, "a/x", "0644", "", "b/tool", "0755", script)
	path := dir + "/none:" + dir + "/a:" + dir + "/b"
	m := NewMachine(nil)
	look := func() string {
		f, err := m.InPath("tool", path, "")
		if err != nil {
			return err.Error()
		}
		return strings.TrimPrefix(f.Path, dir)
	}
	if got := look(); got != "/b/tool" {
		t.Fatal(got)
	}
	write := func(path, content string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(content), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	first, _ := m.InPath("tool", path, "")
	write(dir+"/b/tool", script+"# longer\n")
	if second, err := m.InPath("tool", path, ""); err != nil || second.ID == first.ID {
		t.Errorf("changed content has the same identity: %+v %v", second, err)
	}
	write(dir+"/a/tool", script)
	if got := look(); got != "/a/tool" {
		t.Errorf("a new program in front: %s", got)
	}
	if err := os.Mkdir(dir+"/none", 0o755); err != nil {
		t.Fatal(err)
	}
	write(dir+"/none/tool", script)
	if got := look(); got != "/none/tool" {
		t.Errorf("a new directory in front: %s", got)
	}
	if err := os.RemoveAll(dir + "/none"); err != nil {
		t.Fatal(err)
	}
	if got := look(); got != "/a/tool" {
		t.Errorf("the directory has gone: %s", got)
	}
	if err := os.Chmod(dir+"/a/tool", 0o644); err != nil {
		t.Fatal(err)
	}
	if got := look(); got != "/b/tool" {
		t.Errorf("no longer executable: %s", got)
	}
}

func TestP32_At(t *testing.T) {
	dir := machineDir(
		t, "bin/tool", "0755", script, "bin/elf", "0755", "\x7fELF...", "bin/link", "0", "tool", "d", "0", "bin",
		"deep/a/x", "0755", script, "up", "0", "deep/a",
		"bad/none", "0755", "", "bad/text", "0755", "echo x\n", "bad/rel", "0755", "#!sh\n", "bad/gone", "0755", "#!/nonexistent/x\n",
		"bad/long", "0755", "#!/bin/"+strings.Repeat("x", 300)+"\n", "bad/mode", "0644", script, "bad/empty", "0755", "#!\n", "bad/loop", "0", "loop",
	)
	m := NewMachine(nil)
	for path, want := range map[string][3]string{
		"/bin/tool":      {"/bin/tool", "/bin/tool", "/bin/tool"},
		"/bin/elf":       {"/bin/elf", "/bin/elf", "/bin/elf"},
		"/bin/link":      {"/bin/link", "/bin/tool", "/bin/link"},
		"/d/tool":        {"/d/tool", "/bin/tool", "/bin/tool"},
		"/bin/../d/tool": {"/d/tool", "/bin/tool", "/bin/tool"},
		"/up/../a/x":     {"/deep/a/x", "/deep/a/x", "/deep/a/x"}, // .. leads out of the link's target
		"//bin//tool":    {"/bin/tool", "/bin/tool", "/bin/tool"},
	} {
		f, err := m.At(dir + path)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		got := [3]string{strings.TrimPrefix(f.Path, dir), strings.TrimPrefix(f.Real, dir), strings.TrimPrefix(f.Direct, dir)}
		if got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
	for _, path := range []string{"/bad/none", "/bad/text", "/bad/rel", "/bad/gone", "/bad/long", "/bad/mode", "/bad/empty", "/bad/loop", "/bin", "/x", "/bin/tool/", "/bin/tool/x"} {
		if f, err := m.At(dir + path); err == nil {
			t.Errorf("%s: %+v", path, f)
		}
	}
	if _, err := m.At("bin/tool"); err == nil {
		t.Error("a relative path")
	}
}

func TestP32_OthersWrite(t *testing.T) {
	dir := machineDir(t, "open/tool", "0755", script, "ok/tool", "0755", script, "ok/wide", "0777", script, "sticky/tool", "0755", script, "in/open/deep/tool", "0755", script)
	for path, mode := range map[string]os.FileMode{"open": 0o777, "sticky": 0o777 | os.ModeSticky, "in/open": 0o775} {
		if err := os.Chmod(filepath.Join(dir, path), mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chown(filepath.Join(dir, "in/open"), -1, os.Getgid()); err != nil {
		t.Fatal(err)
	}
	m := NewMachine(nil)
	for path, loose := range map[string]bool{"open/tool": true, "ok/tool": false, "ok/wide": true, "sticky/tool": false, "in/open/deep/tool": os.Getgid() != 0} {
		f, err := m.At(filepath.Join(dir, path))
		if err != nil {
			t.Fatal(err)
		}
		if (f.Loose != "") != loose {
			t.Errorf("%s: %q", path, f.Loose)
		}
	}
}

func TestP23_Dir(t *testing.T) {
	dir := machineDir(t, "a/b/x", "0644", "", "l", "0", "a/b")
	m := NewMachine(nil)
	for path, want := range map[string]string{"/a": "/a", "/l": "/a/b", "/l/..": "/a", "/a/./b/": "/a/b"} {
		if got, err := m.Dir(dir + path); err != nil || got != dir+want {
			t.Errorf("%s: %s %v", path, got, err)
		}
	}
	for _, path := range []string{"/none", "/a/b/x"} {
		if got, err := m.Dir(dir + path); err == nil {
			t.Errorf("%s: %s", path, got)
		}
	}
}

// TestP73_KeepsForSeconds: nothing is believed for longer than a few seconds without a
// full look.
func TestP73_KeepsForSeconds(t *testing.T) {
	dir := machineDir(t, "a/tool", "0755", script)
	now := time.Now()
	m := NewMachine(func() time.Time { return now })
	first, err := m.At(dir + "/a/tool")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir+"/a", 0o777); err != nil {
		t.Fatal(err)
	}
	now = now.Add(keepFor)
	if second, err := m.At(dir + "/a/tool"); err != nil || second.Loose == "" || first.Loose != "" {
		t.Errorf("%+v, then %+v, %v", first, second, err)
	}
}
