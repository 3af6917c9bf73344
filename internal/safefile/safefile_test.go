package safefile_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"openclaw/internal/safefile"
)

func TestRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if _, err := safefile.Read(path, 10); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("missing file: %v", err)
	}
	if err := os.WriteFile(path, []byte("0123456789"), 0o600); err != nil {
		t.Fatal(err)
	}
	if data, err := safefile.Read(path, 10); err != nil || string(data) != "0123456789" {
		t.Fatalf("Read = %q, %v", data, err)
	}
	if _, err := safefile.Read(path, 9); !errors.Is(err, safefile.ErrTooLarge) || !strings.Contains(err.Error(), path) {
		t.Fatalf("over the limit: %v", err)
	}
	if _, err := safefile.Read(t.TempDir(), 9); !errors.Is(err, safefile.ErrUnsafe) {
		t.Fatalf("a folder: %v", err)
	}
}

func TestWriteReplaces(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	for _, want := range []string{"first", "", "second and longer"} {
		if err := safefile.Write(path, []byte(want)); err != nil {
			t.Fatal(err)
		}
		got, err := safefile.Read(path, 100)
		if err != nil || string(got) != want {
			t.Fatalf("after writing %q: %q, %v", want, got, err)
		}
	}
	assertOnly(t, dir, "f")
}

func TestWriteLeavesNothingBehind(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	if err := os.MkdirAll(filepath.Join(path, "inside"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := safefile.Write(path, []byte("x")); err == nil {
		t.Fatal("replaced a folder that is not empty")
	}
	assertOnly(t, dir, "f")
	if err := safefile.Write(filepath.Join(dir, "none", "f"), nil); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("missing folder: %v", err)
	}
}

// A reader in the middle of many writes sees whole contents only.
func TestA1_WriteIsAtomic(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	content := func(i int) []byte { return bytes.Repeat([]byte{byte('a' + i%26)}, 4096*(1+i%5)) }
	if err := safefile.Write(path, content(0)); err != nil {
		t.Fatal(err)
	}
	var writers sync.WaitGroup
	for range 2 {
		writers.Go(func() {
			for i := range 30 {
				if err := safefile.Write(path, content(i)); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	done := make(chan struct{})
	go func() { writers.Wait(); close(done) }()
	for {
		data, err := safefile.Read(path, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		if len(data) == 0 || len(bytes.Trim(data, string(data[:1]))) != 0 {
			t.Fatalf("torn content of %d bytes", len(data))
		}
		select {
		case <-done:
			return
		default:
		}
	}
}

func TestDirMakesPrivate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "b")
	for range 2 {
		if err := safefile.Dir(path); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := safefile.Dir(file); err == nil {
		t.Fatal("a file passed as a folder")
	}
}

func assertOnly(t *testing.T, dir, name string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != 1 || entries[0].Name() != name {
		t.Fatalf("folder holds %v", fmt.Sprint(entries))
	}
}
