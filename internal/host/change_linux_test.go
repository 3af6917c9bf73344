package host

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// asUser runs f on a thread of its own with another effective user, which ends with it.
func asUser(t *testing.T, uid int, f func()) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root, to look as another user")
	}
	done := make(chan syscall.Errno)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		_, _, errno := syscall.RawSyscall(unix.SYS_SETRESUID, ^uintptr(0), uintptr(uid), ^uintptr(0))
		if errno == 0 {
			f()
		}
		done <- errno
	}()
	if errno := <-done; errno != 0 {
		t.Skip("needs the right to change the user:", errno)
	}
}

// TestP36_Changeable: who could change a program or what its path leads to.
func TestP36_Changeable(t *testing.T) {
	dir := machineDir(
		t, "root/tool", "0755", script, "open/tool", "0755", script, "root/wide", "0777", script, "user/tool", "0755", script,
		"root/hop", "0", "{DIR}/user/link", "user/link", "0", "{DIR}/root/tool", "root/far", "0", "../open/tool", "root/own", "0555", script,
		"root/near", "0", "tool", "root/turn", "0", "turn", "sticky/tool", "0755", script, "sticky/own", "0755", script,
	)
	for path, mode := range map[string]os.FileMode{"/..": 0o755, "": 0o755, "/open": 0o777, "/sticky": 0o777 | os.ModeSticky} {
		if err := os.Chmod(dir+path, mode); err != nil {
			t.Fatal(err)
		}
	}
	const user = 12345
	if os.Geteuid() == 0 {
		for _, path := range []string{"/user", "/root/own", "/sticky/own"} {
			if err := os.Chown(dir+path, user, 0); err != nil {
				t.Skip("needs the right to give files away:", err)
			}
		}
	}
	m := NewMachine(nil)
	check := func(path, want string) {
		t.Helper()
		got := m.Changeable(path)
		if strings.HasPrefix(path, "/root/") || strings.HasPrefix(path, "/user/") || strings.HasPrefix(path, "/open/") || strings.HasPrefix(path, "/sticky/") {
			got = m.Changeable(dir + path)
		}
		if (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
	asUser(t, user, func() {
		if SuperUser() {
			t.Error("the user is no superuser")
		}
		check("/root/tool", "")
		check("/root/near", "")
		check("/sticky/tool", "")
		check("/root/own", "by the user of the commands")
		check("/root/wide", "by everybody")
		check("/open/tool", "by everybody")
		check("/sticky/own", "by everybody")
		check("/user/tool", "by the user of the commands")
		check("/root/hop", "/user can be written by the user of the commands") // a link on the way
		check("/root/far", "by everybody")
	})
	if !SuperUser() {
		t.Error("the user is a superuser again")
	}
	check("/root/tool", "")
	check("/root/hop", "belongs to user 12345")
	check("/root/own", "belongs to user 12345")
	check("/user/tool", "belongs to user 12345")
	check("/sticky/own", "by everybody")
	check("/root/turn", "cannot be examined")
	check("/root/none", "cannot be examined")
	check("tool", "no absolute path")
	check("/x\x00", "no absolute path")
	if why := Others(dir + "/root/tool"); why != "" {
		t.Error(why)
	}
	if why := Others(dir + "/open/tool"); why == "" {
		t.Error("a folder that everybody can write")
	}
	if real, err := filepath.EvalSymlinks("/bin/sh"); err == nil && m.Changeable("/bin/sh") != "" {
		t.Errorf("%s: %s", real, m.Changeable("/bin/sh"))
	}
}
