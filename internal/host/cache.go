package host

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// record is cache/login-env.json: what the login shell said, for the next start of the
// daemon. It is thrown away unless Fingerprint is today's.
type record struct {
	Fingerprint  string            `json:"fingerprint"`
	Shell        string            `json:"shell"` // the login shell's path, for people who read the file
	Home         string            `json:"home"`
	Zdotdir      string            `json:"zdotdir,omitempty"`
	Path         []string          `json:"path"`
	WithSnapshot bool              `json:"withSnapshot"` // was OPENCLAW_EXEC_SHELL_SNAPSHOT on
	Vars         map[string]string `json:"vars,omitempty"`
	Snapshot     string            `json:"snapshot,omitempty"` // file's absolute path
	SnapshotSum  string            `json:"snapshotSum,omitempty"`
	Notes        []string          `json:"notes,omitempty"`
}

func recordPath(stateDir string) string { return filepath.Join(stateDir, "cache", "login-env.json") }

// loadRecord returns the cached answer if it is whole and its snapshot is what was
// written. Any fault is a miss: the shell is asked again.
func loadRecord(stateDir string) (*record, error) {
	text, err := readSmall(recordPath(stateDir), 1<<20)
	if err != nil {
		return nil, err
	}
	var rec record
	if err := json.Unmarshal(text, &rec); err != nil {
		return nil, err
	}
	if rec.Path = mergePath(rec.Path); len(rec.Path) == 0 {
		return nil, errors.New("no PATH in it")
	}
	if rec.Snapshot != "" {
		text, err := readSmall(rec.Snapshot, maxSnapshot)
		if err != nil {
			return nil, err
		}
		if contentSum(text) != rec.SnapshotSum {
			return nil, errors.New("its snapshot was changed")
		}
	}
	return &rec, nil
}

func saveRecord(stateDir string, rec *record) error {
	text, err := json.MarshalIndent(rec, "", "  ")
	if err != nil {
		return err
	}
	return writePrivate(recordPath(stateDir), append(text, '\n'))
}

// snapshotFile is where a snapshot with this text stands. The folder is named for the
// content: a file, once there, never changes under a shell that reads it.
func snapshotFile(stateDir string, kind Kind, text string) string {
	name := "snapshot.sh"
	if kind == KindZsh {
		name = ".zshenv"
	}
	return filepath.Join(snapshotsDir(stateDir), string(kind)+"-"+contentSum([]byte(text))[:16], name)
}

func snapshotsDir(stateDir string) string { return filepath.Join(stateDir, "cache", "shell-snapshots") }

// pruneSnapshots removes folders that nothing has used for a day, but keep. A shell that
// was just started may still read an old one. What cannot be removed stays.
func pruneSnapshots(stateDir, keep string, now time.Time) {
	entries, err := os.ReadDir(snapshotsDir(stateDir))
	if err != nil {
		return
	}
	for _, entry := range entries {
		dir := filepath.Join(snapshotsDir(stateDir), entry.Name())
		info, err := entry.Info()
		if err == nil && dir != filepath.Dir(keep) && now.Sub(info.ModTime()) > 24*time.Hour {
			_ = os.RemoveAll(dir) // best effort: the next start tries again
		}
	}
}

func contentSum(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// writePrivate replaces path by text at once (0600, its folders 0700): a reader sees the
// old file or the new one.
func writePrivate(path string, text []byte) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(dir, ".tmp-*") // made 0600
	if err != nil {
		return err
	}
	_, err = tmp.Write(text)
	if closeErr := tmp.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		_ = os.Remove(tmp.Name())
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// readSmall reads a regular file of at most limit bytes.
func readSmall(path string, limit int64) ([]byte, error) {
	info, err := os.Stat(path) // before opening: opening a named pipe would wait for a writer
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > limit {
		return nil, fmt.Errorf("%s: not a regular file of at most %d bytes", path, limit)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, limit))
}
