package host

import (
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"openclaw/internal/policy"
)

// foldEnv says if names of environment variables ignore case.
const foldEnv = true

// hasLogin says if there is a login shell with start-up files to ask. Windows keeps PATH
// in the registry and hands it to every process.
const hasLogin = false

// maxArgBytes is the longest command line CreateProcess takes, in characters.
const maxArgBytes = 32767

// MinimalPath is the PATH the daemon itself runs with: what Windows gave it.
func MinimalPath() []string { return filepath.SplitList(os.Getenv("PATH")) }

// CheckEnv is policy's X-10 check for this machine's kind of names.
func CheckEnv(env map[string]string, judged bool) (map[string]string, error) {
	return policy.CheckEnvFold(env, judged)
}

func executableMode(fs.FileMode) bool { return true }

func fileStamp(info fs.FileInfo) string {
	return strconv.FormatInt(info.Size(), 36) + "." + strconv.FormatInt(info.ModTime().UnixNano(), 36)
}
