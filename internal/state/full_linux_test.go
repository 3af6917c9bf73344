package state_test

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"openclaw/internal/state"
)

// smallDisk is a file system of its own; the function it returns gives it another size.
func smallDisk(t *testing.T, size string) (string, func(size string)) {
	t.Helper()
	disk := t.TempDir()
	if err := syscall.Mount("none", disk, "tmpfs", 0, "mode=0700,size="+size); err != nil {
		t.Skipf("needs root, to mount a small tmpfs: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(disk, 0); err != nil {
			t.Error(err)
		}
	})
	return disk, func(size string) {
		if err := syscall.Mount("none", disk, "tmpfs", syscall.MS_REMOUNT, "mode=0700,size="+size); err != nil {
			t.Fatal(err)
		}
	}
}

// TestFullDisk: on a disk without room nothing is lost, what is there can be read, also by
// the next program, and the store goes on once there is room.
func TestFullDisk(t *testing.T) {
	ctx := t.Context()
	disk, resize := smallDisk(t, "1m")
	path := filepath.Join(disk, "state", "exec.db")
	s := openAt(t, path)
	kept := map[string]int64{}
	refused := 0
	for i := range 200 {
		key := strconv.Itoa(i)
		rev, err := s.Put(ctx, "b", key, make([]byte, 10_000), 0)
		if err == nil {
			kept[key] = rev
			continue
		}
		if refused++; !errors.Is(err, state.ErrFull) {
			t.Fatalf("put %d: %v", i, err)
		}
	}
	if len(kept) == 0 || refused == 0 {
		t.Fatalf("%d kept, %d refused", len(kept), refused)
	}
	holds(t, s, kept)
	if err := s.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	resize("8m")
	s = openAt(t, path)
	defer s.Close()
	holds(t, s, kept)
	if _, err := s.Append(ctx, "l", 0, make([]byte, 10_000)); err != nil {
		t.Errorf("after room was made: %v", err)
	}
	if err := s.Check(ctx); err != nil {
		t.Error(err)
	}
}

func holds(t *testing.T, s *state.Store, kept map[string]int64) {
	t.Helper()
	for key, rev := range kept {
		if it, err := s.Get(t.Context(), "b", key); err != nil || it.Rev != rev || len(it.Value) != 10_000 {
			t.Errorf("%s: revision %d, %d bytes, %v", key, it.Rev, len(it.Value), err)
		}
	}
}

// TestFullDiskOpen: at whatever point of Open the disk is full, the answer is that, and
// nothing that is left keeps the store from being opened once there is room.
func TestFullDiskOpen(t *testing.T) {
	disk, resize := smallDisk(t, "512k")
	filler := filepath.Join(disk, "filler")
	for room := 0; room <= 96; room += 4 {
		resize("512k")
		path := filepath.Join(disk, strconv.Itoa(room), "exec.db")
		if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		fill(t, filler, room<<10)
		if s, err := state.Open(t.Context(), path); err == nil {
			if _, err := s.Put(t.Context(), "b", "k", nil, 0); err != nil && !errors.Is(err, state.ErrFull) {
				t.Errorf("put with %d KiB: %v", room, err)
			}
			if _, err := s.Get(t.Context(), "b", "k"); err != nil && !errors.Is(err, state.ErrFull) && !errors.Is(err, state.ErrNotFound) {
				t.Errorf("get with %d KiB: %v", room, err)
			}
			if err := s.Close(); err != nil && !errors.Is(err, state.ErrFull) {
				t.Errorf("close with %d KiB: %v", room, err)
			}
		} else if !errors.Is(err, state.ErrFull) {
			t.Errorf("open with %d KiB: %v", room, err)
		}
		if err := os.Remove(filler); err != nil {
			t.Fatal(err)
		}
		s := openAt(t, path)
		if _, err := s.Append(t.Context(), "l", 0, nil); err != nil {
			t.Errorf("after room was made: %v", err)
		}
		if err := errors.Join(s.Close(), os.RemoveAll(filepath.Dir(path))); err != nil {
			t.Error(err)
		}
	}
}

// fill leaves so many bytes of a disk.
func fill(t *testing.T, path string, leave int) {
	t.Helper()
	var fs syscall.Statfs_t
	if err := syscall.Statfs(filepath.Dir(path), &fs); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, make([]byte, int(fs.Bavail)*int(fs.Bsize)-leave), 0o600); err != nil {
		t.Fatal(err)
	}
}
