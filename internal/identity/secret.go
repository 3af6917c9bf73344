package identity

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"openclaw/internal/safefile"
)

const (
	secretBytes    = 32   // of randomness in a secret we make
	secretFileMax  = 4096 // bytes of a secret file
	minSecretChars = 16   // a shorter one in a secret file is a slip, e.g. an emptied file
)

// sum is what is kept and compared of a secret: all of one length, so that a compare
// takes the same time whatever was sent.
type sum [sha256.Size]byte

func sumOf(secret string) sum { return sha256.Sum256([]byte(secret)) }

// equal compares in constant time.
func (s sum) equal(other sum) bool { return subtle.ConstantTimeCompare(s[:], other[:]) == 1 }

// newSecret makes 32 random bytes in URL-safe base64; crypto/rand never fails.
func newSecret() string {
	var b [secretBytes]byte
	_, _ = rand.Read(b[:])
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// newID makes a token's id: 8 hexadecimal digits, enough to tell tokens apart.
func newID() string {
	var b [4]byte
	_, _ = rand.Read(b[:])
	return hex.EncodeToString(b[:])
}

// readSecret returns the secret in a file; white space around it is not part of it.
func readSecret(path string) (string, error) {
	data, err := safefile.Read(path, secretFileMax)
	if err != nil {
		return "", err
	}
	secret := strings.TrimSpace(string(data))
	if len(secret) < minSecretChars {
		return "", fmt.Errorf("read %s: %w: a secret has at least %d characters; delete the file to have a new one made", path, ErrDamaged, minSecretChars)
	}
	return secret, nil
}

// makeSecret puts a new secret into a file.
func makeSecret(path string) error {
	return safefile.Write(path, []byte(newSecret()+"\n"))
}

// ensureSecret makes the file when it is missing. The caller holds the lock, so that
// two processes that start at once agree on one secret.
func ensureSecret(path string) error {
	_, err := readSecret(path)
	if errors.Is(err, fs.ErrNotExist) {
		return makeSecret(path)
	}
	return err
}
