package host

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

const listSep = string(os.PathListSeparator)

// mergePath joins lists of directories in order and drops what X-11 drops: relative and
// empty entries, those with a separator in them, and repetitions.
func mergePath(lists ...[]string) []string {
	var out []string
	for _, list := range lists {
		for _, dir := range list {
			if !usableEntry(dir) || hasEntry(out, dir) {
				continue
			}
			out = append(out, dir)
		}
	}
	return out
}

func usableEntry(dir string) bool {
	return filepath.IsAbs(dir) && !strings.Contains(dir, listSep) && strings.IndexByte(dir, 0) < 0
}

// hasEntry compares without slashes at the end, so that /usr/bin/ is /usr/bin. A PATH is
// short: a loop beats a map.
func hasEntry(list []string, dir string) bool {
	dir = trimSlash(dir)
	for _, have := range list {
		if trimSlash(have) == dir {
			return true
		}
	}
	return false
}

func trimSlash(dir string) string {
	for len(dir) > 1 && dir[len(dir)-1] == '/' {
		dir = dir[:len(dir)-1]
	}
	return dir
}

// expandPrepend expands ~ in tools.exec.pathPrepend and drops what cannot be used,
// with a warning each: an entry that silently does nothing would be looked for for hours.
func expandPrepend(prepend []string, home string) (dirs, warnings []string) {
	for _, entry := range prepend {
		dir := entry
		if dir == "~" || strings.HasPrefix(dir, "~/") {
			if home == "" {
				warnings = append(warnings, fmt.Sprintf("pathPrepend entry %q is left out: there is no home directory; write the full path", entry))
				continue
			}
			dir = filepath.Join(home, dir[1:])
		}
		if !usableEntry(dir) {
			warnings = append(warnings, fmt.Sprintf("pathPrepend entry %q is left out: it is not one absolute directory; write the full path, one entry a directory", entry))
			continue
		}
		dirs = append(dirs, dir)
	}
	return dirs, warnings
}
