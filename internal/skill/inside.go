package skill

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// maxLinks is how many symbolic links one path may lead through.
const maxLinks = 40

// Inside reports whether an absolute path leads into one of the folders, or through one: a
// link that stands there counts, wherever it points. Folders are compared as the system
// does, not by their spelling. A path that cannot be followed counts as inside; a folder
// that is not there holds nothing.
func Inside(path string, folders []string) bool {
	var infos []fs.FileInfo
	for _, f := range folders {
		if info, err := os.Stat(f); err == nil {
			infos = append(infos, info)
		}
	}
	hit := func(info fs.FileInfo) bool {
		return slices.ContainsFunc(infos, func(f fs.FileInfo) bool { return os.SameFile(f, info) })
	}
	if !filepath.IsAbs(path) {
		return true
	}
	sep := string(filepath.Separator)
	root := filepath.VolumeName(path) + sep
	at, rest, links := root, strings.Split(path[len(root)-1:], sep), 0
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
		info, err := os.Lstat(next)
		if err != nil || hit(info) {
			return true
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			at = next
			continue
		}
		target, err := os.Readlink(next)
		if links++; err != nil || links > maxLinks {
			return true
		}
		if filepath.IsAbs(target) {
			at = filepath.VolumeName(target) + sep
			target = target[len(at)-1:]
		}
		rest = append(strings.Split(target, sep), rest...)
	}
	info, err := os.Stat(root)
	return err != nil || hit(info) // a folder that holds everything
}
