package approval

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"openclaw/internal/json5"
	"openclaw/internal/safefile"
)

// Errors that callers tell apart.
var (
	// ErrStale: the document is not the one that the hash names.
	ErrStale = errors.New("exec approvals changed since last load; read them again and retry")
	// ErrNeedsHash: there is a document, and no hash says which one is meant.
	ErrNeedsHash = errors.New("exec approvals base hash required; read them and retry")
)

// File is the document of one state directory, for writing. All programs of this machine
// that write it take one lock. It may be used by many at once.
type File struct{ dir string }

// NewFile names the document of a state directory; nothing is read.
func NewFile(stateDir string) *File { return &File{dir: stateDir} }

// Path is the document's file.
func (f *File) Path() string { return filepath.Join(f.dir, FileName) }

// Read gives the document as it stands and the hash of what people edit in it; exists is
// false when there is none. An error wraps ErrDamaged.
func (f *File) Read() (text []byte, hash string, exists bool, err error) {
	root, src, err := f.load()
	if err != nil {
		return nil, "", false, err
	}
	hash, err = hashOf(root)
	return src, hash, src != nil, err
}

// load reads the document; a missing one that may be missing is an empty object and no
// text.
func (f *File) load() (*object, []byte, error) {
	src, err := safefile.Read(f.Path(), maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Lstat(filepath.Join(f.dir, SeenName)); err == nil {
			return nil, nil, fmt.Errorf("%w: %s has gone; put it back from a copy, or write a new one with openclaw approvals set", ErrDamaged, f.Path())
		}
		return &object{}, nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	root, err := understand(src)
	if err != nil {
		return nil, nil, fmt.Errorf("read %s: %w", f.Path(), err)
	}
	return root, src, nil
}

// understand reads a document that can be used.
func understand(src []byte) (*object, error) {
	if _, err := Parse(src); err != nil {
		return nil, err
	}
	node, err := json5.Parse(src)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	root, ok := treeOf(node).(*object)
	if !ok {
		return nil, fmt.Errorf("%w: it is not an object", ErrDamaged)
	}
	return root, nil
}

// missingHash stands for no document.
const missingHash = "missing:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

// hashOf covers what people edit: usage never makes somebody's save fail.
func hashOf(root *object) (string, error) {
	if len(root.members) == 0 {
		return missingHash, nil
	}
	text, err := root.write()
	if err != nil {
		return "", err
	}
	node, err := json5.Parse(text)
	if err != nil {
		return "", err
	}
	bare, _ := treeOf(node).(*object)
	normalise(bare, func() string { return "" })
	eachEntry(bare, func(_ string, e *object) { e.drop("lastUsedAt", "lastUsedCommand", "lastResolvedPath") })
	if text, err = bare.write(); err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), nil
}

// edit changes the document under the lock. A hash that is not "" has to be the present
// document's. A change that leaves everything as it was writes nothing.
func (f *File) edit(ctx context.Context, hash string, change func(root *object) (bool, error)) (string, error) {
	lock, err := f.lock(ctx)
	if err != nil {
		return "", err
	}
	defer lock.Close() //nolint:errcheck // the file is written; the lock goes with the program at the latest
	root, src, err := f.load()
	if err != nil {
		return "", err
	}
	now, err := hashOf(root)
	if err != nil {
		return "", err
	}
	if hash != "" && hash != now {
		return "", ErrStale
	}
	normalise(root, newUUID)
	changed, err := change(root)
	if err != nil || !changed {
		return now, err
	}
	if err := f.store(root, src); err != nil {
		return "", err
	}
	return hashOf(root)
}

func (f *File) lock(ctx context.Context) (*safefile.Held, error) {
	if err := safefile.Dir(f.dir); err != nil {
		return nil, fmt.Errorf("state directory: %w", err)
	}
	return safefile.Lock(ctx, f.Path()+".lock")
}

// store writes the document. Comments that the strict form cannot hold go to a .bak.
func (f *File) store(root *object, old []byte) error {
	text, err := root.write()
	if err != nil {
		return err
	}
	if _, err := Parse(text); err != nil { // never write what could not be read again
		return fmt.Errorf("the change would make a document that cannot be used: %w", err)
	}
	if node, err := json5.Parse(old); err == nil && len(node.Comments()) > 0 {
		if err := safefile.Write(f.Path()+".bak", old); err != nil {
			return err
		}
	}
	if err := safefile.Write(f.Path(), text); err != nil {
		return err
	}
	return markSeen(f.dir)
}

// markSeen notes that there was a document, so that its absence counts.
func markSeen(dir string) error {
	path := filepath.Join(dir, SeenName)
	if _, err := os.Lstat(path); err == nil {
		return nil
	}
	return safefile.Write(path, []byte("exec-approvals.json has been seen; without it nothing runs that would need it\n"))
}

// Replace writes a whole document, given as JSON5. Where one stands, hash has to be
// its own, "" only with force; a damaged one is replaced only with force, and kept beside.
func (f *File) Replace(ctx context.Context, hash string, src []byte, force bool) (newHash string, err error) {
	root, err := understand(src)
	if err != nil {
		return "", err
	}
	lock, err := f.lock(ctx)
	if err != nil {
		return "", err
	}
	defer lock.Close() //nolint:errcheck // see edit
	present, old, err := f.load()
	switch {
	case errors.Is(err, ErrDamaged) && !force:
		if _, statErr := os.Lstat(f.Path()); !errors.Is(statErr, fs.ErrNotExist) {
			return "", err
		}
	case errors.Is(err, ErrDamaged):
		if err := f.keepDamaged(); err != nil {
			return "", err
		}
	case err != nil:
		return "", err
	case old != nil:
		now, err := hashOf(present)
		if err != nil {
			return "", err
		}
		if hash == "" && !force {
			return "", ErrNeedsHash
		}
		if hash != "" && hash != now {
			return "", ErrStale
		}
		keepSecrets(root, present)
	}
	normalise(root, newUUID)
	if err := f.store(root, old); err != nil {
		return "", err
	}
	return hashOf(root)
}

// keepDamaged moves what cannot be used out of the way.
func (f *File) keepDamaged() error {
	err := os.Rename(f.Path(), f.Path()+".damaged-"+time.Now().UTC().Format("20060102T150405"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// keepSecrets carries the socket's token over: it is not shown to who edits, so what comes
// back is without it.
func keepSecrets(root, present *object) {
	old, ok := present.get("socket").(*object)
	if !ok || old.text("token") == "" {
		return
	}
	now, ok := root.get("socket").(*object)
	if !ok {
		if root.get("socket") == nil {
			root.set("socket", old)
		}
		return
	}
	if now.text("token") == "" {
		now.set("token", old.text("token"))
	}
}
