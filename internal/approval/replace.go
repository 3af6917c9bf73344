package approval

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"time"
)

// Replace writes a whole document, given as JSON5, and returns its hash. Where one
// stands, hash has to be its own, "" only with force. One that has gone is written anew. A
// damaged one is replaced only with force, and kept beside.
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
	switch there, lookErr := exists(f.Path()); {
	case lookErr != nil:
		return "", lookErr
	case !there:
		if hash != "" && hash != missingHash {
			return "", ErrStale
		}
	case errors.Is(err, ErrDamaged) && force:
		if err := f.keepDamaged(); err != nil {
			return "", err
		}
	case err != nil:
		return "", err
	default:
		if err := mayReplace(present, hash, force); err != nil {
			return "", err
		}
		keepSecrets(root, present)
	}
	normalise(root, newUUID)
	if err := f.store(root, old); err != nil {
		return "", err
	}
	return hashOf(root)
}

// mayReplace compares the hash with the present document's.
func mayReplace(present *object, hash string, force bool) error {
	now, err := hashOf(present)
	switch {
	case err != nil:
		return err
	case hash == "" && !force:
		return ErrNeedsHash
	case hash != "" && hash != now:
		return ErrStale
	}
	return nil
}

// keepDamaged moves what cannot be used out of the way. The mark comes first: a crash
// before the new document is there must not look as if there had never been one.
func (f *File) keepDamaged() error {
	if err := markSeen(f.dir); err != nil {
		return err
	}
	err := os.Rename(f.Path(), f.Path()+".damaged-"+time.Now().UTC().Format("20060102T150405.000000000"))
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
