package safefile_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"openclaw/internal/safefile"
)

// lockEnv makes the test binary play the other process: it takes the lock, says so,
// and holds it until its input ends.
const lockEnv = "SAFEFILE_TEST_LOCK"

func TestMain(m *testing.M) {
	path := os.Getenv(lockEnv)
	if path == "" {
		os.Exit(m.Run())
	}
	held, err := safefile.TryLock(path)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("held")
	_, _ = bufio.NewReader(os.Stdin).ReadByte()
	if err := held.Close(); err != nil {
		os.Exit(1)
	}
}

func TestLockBetweenProcesses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), lockEnv+"="+path)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(stdout).ReadString('\n'); line != "held\n" {
		t.Fatalf("other process says %q, %v", line, err)
	}
	assertLocked(t, path, true)
	if _, err := safefile.TryLock(path); !errors.Is(err, safefile.ErrLocked) {
		t.Errorf("TryLock = %v", err)
	}
	if err := cmd.Process.Kill(); err != nil { // also a killed owner releases it
		t.Fatal(err)
	}
	_ = cmd.Wait()
	_ = stdin.Close()
	assertLocked(t, path, false)
}

func TestLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	assertLocked(t, path, false)
	if _, err := os.Stat(path); err == nil {
		t.Error("Locked made the lock file")
	}
	held, err := safefile.Lock(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	assertLocked(t, path, true)

	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	if _, err := safefile.Lock(ctx, path); !errors.Is(err, safefile.ErrLocked) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("second lock: %v", err)
	}
	for range 2 {
		if err := held.Close(); err != nil {
			t.Fatal(err)
		}
	}
	assertLocked(t, path, false)
	if _, err := safefile.Lock(t.Context(), filepath.Join(path, "x")); err == nil {
		t.Error("locked a name below a file")
	}
}

func TestLockExcludes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	var wg sync.WaitGroup
	var inside, counter atomic.Int32
	for range 8 {
		wg.Go(func() {
			held, err := safefile.Lock(t.Context(), path)
			if err != nil {
				t.Error(err)
				return
			}
			if inside.Add(1) != 1 {
				t.Error("two holders at once")
			}
			time.Sleep(time.Millisecond)
			inside.Add(-1)
			counter.Add(1)
			if err := held.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if counter.Load() != 8 {
		t.Errorf("%d of 8 got the lock", counter.Load())
	}
}

// A probe must not make an owner believe that somebody else owns the lock.
func TestTryLockBesideProbes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		for ctx.Err() == nil {
			if _, err := safefile.Locked(path); err != nil {
				t.Error(err)
				return
			}
			time.Sleep(time.Millisecond)
		}
	})
	for range 50 {
		held, err := safefile.TryLock(path)
		if err != nil {
			t.Error(err)
			break
		}
		if err := held.Close(); err != nil {
			t.Error(err)
		}
	}
	cancel()
	wg.Wait()
}

func assertLocked(t *testing.T, path string, want bool) {
	t.Helper()
	if got, err := safefile.Locked(path); err != nil || got != want {
		t.Errorf("Locked = %v, %v; want %v", got, err, want)
	}
}
