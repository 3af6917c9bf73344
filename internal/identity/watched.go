package identity

import (
	"errors"
	"io/fs"
	"os"
	"time"
)

// settle is how long after its last change a file is read again at every look. The
// kernel stamps files with a coarse clock, so two changes at once may look like one.
const settle = 2 * time.Second

// watched is the candidates that one file holds, read again when the file changes.
// The zero candidates stand for anything that could not be read: fail closed.
type watched struct {
	path string
	load func(path string) ([]candidate, error)

	info       fs.FileInfo // of what candidates came from; nil = missing
	readAt     time.Time
	candidates []candidate
	err        error // why candidates is empty though the file is there
}

// candidate is a secret's hash and what the secret proves.
type candidate struct {
	sum  sum
	cred Credential
}

// refresh costs one stat when nothing changed.
func (w *watched) refresh() {
	now := time.Now()
	info, err := os.Stat(w.path)
	if err != nil {
		w.info, w.candidates, w.err = nil, nil, nil
		if !errors.Is(err, fs.ErrNotExist) {
			w.err = err
		}
		return
	}
	if w.info != nil && sameFile(w.info, info) && w.readAt.Sub(info.ModTime()) > settle {
		return
	}
	// The stat came first: if the file is replaced before load reads it, the stamp is
	// the older one and the next look reads once more.
	w.info, w.readAt = info, now
	if w.candidates, w.err = w.load(w.path); w.err != nil {
		w.candidates = nil
	}
}

// sameFile compares identity, size, mode and time of change.
func sameFile(a, b fs.FileInfo) bool {
	return os.SameFile(a, b) && a.Size() == b.Size() && a.Mode() == b.Mode() && a.ModTime().Equal(b.ModTime())
}
