package identity

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"openclaw/internal/safefile"
)

// deviceKeyFile is this machine's key as a client of other gateways.
const deviceKeyFile = "device-key.pem"

// DeviceKey gives the key by which gateways know this state directory as a device; it is made
// when it is first asked for.
func DeviceKey(stateDir string) (ed25519.PrivateKey, error) {
	path := filepath.Join(stateDir, deviceKeyFile)
	data, err := safefile.Read(path, 16<<10)
	if errors.Is(err, fs.ErrNotExist) {
		return newDeviceKey(stateDir, path)
	}
	if err != nil {
		return nil, fmt.Errorf("device key: %w", err)
	}
	block, _ := pem.Decode(data)
	if block == nil {
		return nil, fmt.Errorf("device key: %s is no PEM file; remove it to get a new device", path)
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("device key: read %s: %w", path, err)
	}
	private, ok := key.(ed25519.PrivateKey)
	if !ok {
		return nil, fmt.Errorf("device key: %s is no Ed25519 key; remove it to get a new device", path)
	}
	return private, nil
}

func newDeviceKey(stateDir, path string) (ed25519.PrivateKey, error) {
	if err := safefile.Dir(stateDir); err != nil {
		return nil, fmt.Errorf("device key: %w", err)
	}
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		return nil, fmt.Errorf("device key: %w", err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("device key: %w", err)
	}
	if err := safefile.Write(path, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})); err != nil {
		return nil, fmt.Errorf("device key: %w", err)
	}
	return key, nil
}
