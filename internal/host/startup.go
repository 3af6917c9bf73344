package host

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
)

// captureVersion is part of every fingerprint: raise it when what is captured or how it
// is written changes, and old caches are left alone.
const captureVersion = "1"

// startupDirs are folders whose files are all start-up files.
var startupDirs = []string{"/etc/profile.d", "/etc/zsh", "/etc/paths.d", "/etc/fish/conf.d"}

// startupFiles are start-up files of the system.
var startupFiles = []string{
	"/etc/profile", "/etc/bash.bashrc", "/etc/bashrc", "/etc/ksh.kshrc", "/etc/paths", "/etc/environment",
	"/etc/zshenv", "/etc/zprofile", "/etc/zshrc", "/etc/zlogin", "/etc/fish/config.fish",
}

// homeFiles are start-up files below the home directory, and the file of aliases that
// distributions' .bashrc reads.
var homeFiles = []string{
	".profile", ".bash_profile", ".bash_login", ".bashrc", ".bash_aliases", ".kshrc", ".config/fish/config.fish",
}

var homeDirs = []string{".config/fish/conf.d"}

// zshFiles are start-up files in ZDOTDIR.
var zshFiles = []string{".zshenv", ".zprofile", ".zshrc", ".zlogin"}

// fingerprint stands for everything a capture depends on: the shells, the home and the
// version of every start-up file. zdotdir is where zsh said it looks ("" = home). It
// stats files and reads folders, never a file's content (about 50 microseconds).
func fingerprint(exec, login Shell, home, zdotdir string) string {
	h := sha256.New()
	add := func(parts ...string) {
		for _, part := range parts {
			h.Write([]byte(part))
			h.Write([]byte{0})
		}
	}
	stamp := func(path string) {
		if info, err := os.Stat(path); err == nil {
			add(path, fileStamp(info))
		}
	}
	add(captureVersion, exec.Path, string(exec.Kind), login.Path, string(login.Kind), home, zdotdir)
	stamp(exec.Path)
	stamp(login.Path)
	for _, path := range startupFiles {
		stamp(path)
	}
	dirs := startupDirs
	if home != "" {
		for _, name := range homeFiles {
			stamp(filepath.Join(home, name))
		}
		for _, name := range homeDirs {
			dirs = append(dirs[:len(dirs):len(dirs)], filepath.Join(home, name))
		}
	}
	for _, base := range []string{home, zdotdir} {
		if base == "" {
			continue
		}
		for _, name := range zshFiles {
			stamp(filepath.Join(base, name))
		}
	}
	for _, dir := range dirs {
		entries, err := os.ReadDir(dir) // sorted
		if err != nil {
			continue
		}
		for _, entry := range entries {
			if !entry.IsDir() {
				stamp(filepath.Join(dir, entry.Name()))
			}
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

// loginReadsBashrc says if the start-up file a login bash reads leads to ~/.bashrc. Many
// people's does not, and then their aliases would be missed: a login shell reads that
// file, a terminal window reads the other.
func loginReadsBashrc(home string) bool {
	for _, name := range []string{".bash_profile", ".bash_login", ".profile"} {
		text, err := readSmall(filepath.Join(home, name), 64<<10)
		if err == nil {
			return strings.Contains(string(text), "bashrc")
		}
	}
	return false
}
