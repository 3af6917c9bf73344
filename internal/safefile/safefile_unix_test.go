//go:build unix

package safefile_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"openclaw/internal/safefile"
)

func TestA2_ReadRefusesWhatOthersWrite(t *testing.T) {
	for _, tt := range []struct {
		mode os.FileMode
		safe bool
	}{
		{0o600, true},
		{0o400, true},
		{0o644, true},
		{0o640, true},
		{0o620, false},
		{0o602, false},
		{0o666, false},
		{0o777, false},
	} {
		path := filepath.Join(t.TempDir(), "f")
		if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, tt.mode); err != nil {
			t.Fatal(err)
		}
		_, err := safefile.Read(path, 10)
		if (err == nil) != tt.safe || (err != nil && !errors.Is(err, safefile.ErrUnsafe)) {
			t.Errorf("mode %04o: %v", tt.mode, err)
		}
		if cerr := safefile.Check(path); (cerr == nil) != tt.safe {
			t.Errorf("Check of mode %04o: %v", tt.mode, cerr)
		}
	}
}

func TestA2_ReadRefusesForeignOwner(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root to give a file to another user")
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{path, dir} {
		if err := os.Chown(name, 12345, -1); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := safefile.Read(path, 10); !errors.Is(err, safefile.ErrUnsafe) {
		t.Errorf("file of another user: %v", err)
	}
	if err := safefile.Dir(dir); !errors.Is(err, safefile.ErrUnsafe) {
		t.Errorf("folder of another user: %v", err)
	}
}

func TestReadDoesNotWaitForPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := safefile.Read(path, 10); !errors.Is(err, safefile.ErrUnsafe) {
		t.Fatalf("named pipe: %v", err)
	}
}

func TestModes(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	if err := safefile.Dir(dir); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "f")
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := safefile.Write(path, []byte("x")); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]os.FileMode{dir: 0o700, path: 0o600} {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != want {
			t.Errorf("%s has mode %04o, want %04o", name, info.Mode().Perm(), want)
		}
	}
	if err := os.Chmod(dir, 0o770); err != nil {
		t.Fatal(err)
	}
	if err := safefile.Dir(dir); !errors.Is(err, safefile.ErrUnsafe) {
		t.Errorf("folder that a group may write: %v", err)
	}
}

func TestWriteKeepsLink(t *testing.T) {
	dir := t.TempDir()
	target, link := filepath.Join(dir, "target"), filepath.Join(dir, "link")
	if err := os.WriteFile(target, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("target", link); err != nil {
		t.Fatal(err)
	}
	if err := safefile.Write(link, []byte("new")); err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(target); err != nil || string(data) != "new" {
		t.Errorf("target holds %q, %v", data, err)
	}
	if dest, err := os.Readlink(link); err != nil || dest != "target" {
		t.Errorf("link is %q, %v", dest, err)
	}
}
