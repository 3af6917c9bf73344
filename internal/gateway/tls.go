package gateway

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"

	"openclaw/internal/config"
	"openclaw/internal/safefile"
)

const (
	ownCertLife = 10 * 365 * 24 * time.Hour // clients know it by its fingerprint, which must not change under them
)

// identityTLS is what the gateway shows of itself over TLS.
type identityTLS struct {
	config      *tls.Config
	fingerprint string // SHA-256 of the certificate (DER), in hex
}

// openTLS gives the operator's certificate, or one of our own that is made at the first
// start and kept; nil = TLS is off.
func openTLS(g config.Gateway, stateDir string) (*identityTLS, error) {
	t := g.TLS
	switch {
	case !t.Enabled:
		return nil, nil
	case t.CAPath != "":
		return nil, errors.New("gateway.tls.caPath is not supported by this version; remove it: clients are known by their devices")
	}
	certPath, keyPath := t.CertPath, t.KeyPath
	if certPath == "" {
		certPath, keyPath = filepath.Join(stateDir, "tls", "gateway-cert.pem"), filepath.Join(stateDir, "tls", "gateway-key.pem")
		if err := ownCertificate(certPath, keyPath, g.ListenHost()); err != nil {
			return nil, fmt.Errorf("gateway.tls: %w", err)
		}
	}
	pair, err := tls.LoadX509KeyPair(certPath, keyPath)
	if err != nil {
		return nil, fmt.Errorf("gateway.tls: certificate %s with key %s: %w", certPath, keyPath, err)
	}
	if pair.Leaf != nil && time.Now().After(pair.Leaf.NotAfter) {
		return nil, fmt.Errorf("gateway.tls: the certificate %s ran out on %s; renew it", certPath, pair.Leaf.NotAfter.Format(time.DateOnly))
	}
	sum := sha256.Sum256(pair.Certificate[0])
	return &identityTLS{
		// A WebSocket begins as HTTP/1.1.
		config:      &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}},
		fingerprint: hex.EncodeToString(sum[:]),
	}, nil
}

// ownCertificate makes a certificate that names this machine, unless it is there. The key is
// written last and alone decides: half a pair is made anew.
func ownCertificate(certPath, keyPath, host string) error {
	switch err := safefile.Check(keyPath); {
	case err == nil:
		return nil
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if err := safefile.Dir(filepath.Dir(keyPath)); err != nil {
		return err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return err
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: "openclaw gateway"},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(ownCertLife), // clocks differ
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
		BasicConstraintsValid: true,
	}
	if name, err := os.Hostname(); err == nil && name != "" && name != "localhost" {
		template.DNSNames = append(template.DNSNames, name)
	}
	if ip := net.ParseIP(host); ip != nil && !ip.IsUnspecified() && !ip.IsLoopback() {
		template.IPAddresses = append(template.IPAddresses, ip)
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	if err := safefile.Write(certPath, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})); err != nil {
		return err
	}
	return safefile.Write(keyPath, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}))
}
