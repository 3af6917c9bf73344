package approval

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

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
		if err := mayBeMissing(f.dir); err != nil {
			return nil, nil, err
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
	tree, err := treeOf(node)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	root, ok := tree.(*object)
	if !ok {
		return nil, fmt.Errorf("%w: it is not an object", ErrDamaged)
	}
	return root, nil
}

// edit changes the document under the lock, as it is then. A change that leaves everything
// as it was writes nothing.
func (f *File) edit(ctx context.Context, change func(root *object) (bool, error)) error {
	lock, err := f.lock(ctx)
	if err != nil {
		return err
	}
	defer lock.Close() //nolint:errcheck // the file is written; the lock goes with the program at the latest
	root, src, err := f.load()
	if err != nil {
		return err
	}
	normalise(root, newUUID)
	changed, err := change(root)
	if err != nil || !changed {
		return err
	}
	return f.store(root, src)
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
	if len(text) > maxFile {
		return fmt.Errorf("the document would have %d bytes, limit %d; take entries away first", len(text), maxFile)
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
	f.sweep()
	return markSeen(f.dir)
}

// sweep takes away what killed writers left. Whoever writes holds the lock, so no temporary
// file is in use.
func (f *File) sweep() {
	names, _ := os.ReadDir(f.dir) // what cannot be listed now is swept by a later write
	for _, e := range names {
		if strings.HasPrefix(e.Name(), "."+FileName+".tmp-") {
			_ = os.Remove(filepath.Join(f.dir, e.Name()))
		}
	}
}
