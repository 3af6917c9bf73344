package proc

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestFindCgroup(t *testing.T) {
	const v2 = "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n"
	const v1 = "31 23 0:27 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n"
	for _, c := range []struct{ name, own, mounts, want string }{
		{"user service", "0::/user.slice/a.service\n", v1 + v2, "/sys/fs/cgroup/user.slice/a.service"},
		{"root", "0::/\n", v2, "/sys/fs/cgroup"},
		{"container", "0::/docker/x/y\n", "30 23 0:26 /docker/x /sys/fs/cgroup rw - cgroup2 cgroup rw\n", "/sys/fs/cgroup/y"},
		{"v1 only", "8:pids:/\n", v1, ""},
		{"hybrid without mount", "8:pids:/\n0::/\n", v1, ""},
		{"outside the mount", "0::/other\n", "30 23 0:26 /docker /sys/fs/cgroup rw - cgroup2 cgroup rw\n", ""},
	} {
		if got := findCgroup(c.own, c.mounts); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// mountCgroup gives a cgroup v2 directory of the test's own.
func mountCgroup(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := unix.Mount("none", dir, "cgroup2", 0, ""); err != nil {
		t.Skipf("a cgroup v2 mount is needed: %v", err)
	}
	t.Cleanup(func() { _ = unix.Unmount(dir, unix.MNT_DETACH) })
	own := filepath.Join(dir, "test")
	if err := os.Mkdir(own, 0o755); err != nil {
		t.Skipf("a writable cgroup v2 group is needed: %v", err)
	}
	t.Cleanup(func() { removeCgroup(own) })
	return own
}

// hidden detaches twice and clears its environment: only a cgroup, or the times, tell
// whose it is.
const hidden = `(env -i setsid sh -c 'echo $$ >pid; exec sleep 305' &) ; `

func TestX6_CgroupFindsWhatHides(t *testing.T) {
	s, err := newStarterIn(mountCgroup(t))
	if err != nil {
		t.Fatal(err)
	}
	if s.groups == nil {
		t.Fatal("no groups")
	}
	defer s.Close()
	other := start(t, s, script(t, "sleep 306"))
	spec := script(t, hidden+"sleep 307")
	spec.Own = true
	c := start(t, s, spec)
	pid := waitPid(t, spec.Dir, "pid")
	if left := c.End(context.Background(), time.Second); len(left) > 0 {
		t.Errorf("left %v", left)
	}
	c.wait()
	waitGone(t, pid)

	spec = script(t, hidden+waitLeaver+"exit 3")
	spec.Own = true
	c = start(t, s, spec)
	exit, _ := c.wait()
	if left := c.Leftovers(); exit.Code != 3 || len(left) != 1 {
		t.Errorf("exit %+v, left %v", exit, left)
	}
	c.End(context.Background(), 0)
	waitGone(t, waitPid(t, spec.Dir, "pid"))

	for range 200 { // groups are used again
		spec := script(t, "true")
		spec.Own = true
		c := start(t, s, spec)
		c.wait()
		if left := c.Leftovers(); len(left) > 0 {
			t.Errorf("left %v", left)
		}
	}
	if s.groups.made > 8 {
		t.Errorf("%d groups were made", s.groups.made)
	}
	other.End(context.Background(), 0)
	other.wait()
}

func TestX6_SoleSuspectIsEnded(t *testing.T) {
	s, err := newStarterIn("")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	spec := script(t, hidden+"sleep 308")
	c := start(t, s, spec)
	pid := waitPid(t, spec.Dir, "pid")
	c.End(context.Background(), time.Second)
	c.wait()
	waitGone(t, pid)

	// With another command at work at that time it is left alone.
	other := start(t, s, script(t, "sleep 309"))
	spec = script(t, hidden+"sleep 310")
	c = start(t, s, spec)
	pid = waitPid(t, spec.Dir, "pid")
	c.End(context.Background(), time.Second)
	c.wait()
	if st, ok := readStat(pid.pid); !ok || st.zombie() {
		t.Error("a process that may be another command's was ended")
	}
	_ = unix.Kill(pid.pid, unix.SIGKILL)
	other.End(context.Background(), 0)
	other.wait()
}
