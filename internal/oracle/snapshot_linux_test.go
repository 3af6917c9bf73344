package oracle

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"testing"
)

// snapshot says of every file below a directory what it is.
func snapshot(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	must(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err == nil {
			files[path] = fmt.Sprint(info.Mode(), info.Size(), info.ModTime())
		}
		return err
	}))
	return files
}

// changes are the files that differ between two snapshots.
func changes(before, after map[string]string) []string {
	var list []string
	for path, what := range after {
		if before[path] != what {
			list = append(list, path)
		}
	}
	for path := range before {
		if after[path] == "" {
			list = append(list, path)
		}
	}
	return list
}
