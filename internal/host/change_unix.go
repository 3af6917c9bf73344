//go:build unix

package host

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// maxLinks is how many symbolic links one path may lead through, as in the kernel.
const maxLinks = 40

// SuperUser reports whether this user can write every file, so that owners and modes say
// nothing about what its commands can change.
func SuperUser() bool { return os.Geteuid() == 0 }

// Others says who besides root and this user could change what an absolute path leads to or
// lead it elsewhere, "" = nobody. Every folder and link on the way is looked at.
func Others(path string) string { return whoOnTheWay(path, false) }

// Changeable is Others that counts this user too, and so every command it starts (P-36). The
// superuser is not counted: nothing would be left.
func (m *Machine) Changeable(path string) string { return whoOnTheWay(path, !SuperUser()) }

// whoOnTheWay follows a path as the kernel does, one name at a time.
func whoOnTheWay(path string, me bool) string {
	if !filepath.IsAbs(path) || strings.IndexByte(path, 0) >= 0 {
		return "it is no absolute path"
	}
	at, rest, links := "/", strings.Split(path, "/"), 0
	for len(rest) > 0 {
		name := rest[0]
		rest = rest[1:]
		switch name {
		case "", ".":
			continue
		case "..":
			at = filepath.Dir(at) // at has no links in it
			continue
		}
		next := filepath.Join(at, name)
		var dir, st unix.Stat_t
		if unix.Lstat(at, &dir) != nil || unix.Lstat(next, &st) != nil {
			return next + " cannot be examined"
		}
		if why := whoReplaces(at, &dir, &st, me); why != "" {
			return why
		}
		if st.Mode&unix.S_IFMT != unix.S_IFLNK {
			at = next
			continue
		}
		target, err := os.Readlink(next)
		if links++; err != nil || links > maxLinks {
			return next + " cannot be examined"
		}
		if filepath.IsAbs(target) {
			at = "/"
		}
		rest = append(strings.Split(target, "/"), rest...)
	}
	var st unix.Stat_t
	if unix.Lstat(at, &st) != nil {
		return at + " cannot be examined"
	}
	return whoWrites(at, &st, me)
}

// whoReplaces says who could put something else in the place of an entry of a directory. In
// a sticky one only the owners of the two can.
func whoReplaces(path string, dir, entry *unix.Stat_t, me bool) string {
	owned := func(st *unix.Stat_t) bool { return st.Uid == 0 || !me && trustedOwner(st) }
	if uint32(dir.Mode)&unix.S_ISVTX != 0 && owned(dir) && owned(entry) { //nolint:unconvert // narrower on some systems
		return ""
	}
	return whoWrites(path, dir, me)
}

// whoWrites says who could change the file or the entries of the directory, or give itself
// the right to.
func whoWrites(path string, st *unix.Stat_t, me bool) string {
	if why := others(path, st); why != "" {
		return why
	}
	if me && (int(st.Uid) == os.Geteuid() || mayWrite(path)) {
		return fmt.Sprintf("%s can be written by the user of the commands", path)
	}
	return ""
}
