package gateway

import (
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"openclaw/internal/client"
)

const withTLS = `gateway:{port:0,tls:{enabled:true}}`

// TestTLS: with gateway.tls.enabled nothing is served in the clear; the certificate is made
// once, its key is the operator's alone, and clients on this machine know it.
func TestTLS(t *testing.T) {
	dir := t.TempDir()
	d := run(t, dir, withTLS)
	if !strings.HasPrefix(d.url, "https://127.0.0.1:") || len(d.info.Fingerprint) != 64 {
		t.Fatalf("%+v", d.info)
	}
	ep, found, err := client.Find(dir)
	if err != nil || !found || ep.Fingerprint != d.info.Fingerprint {
		t.Fatalf("%+v %v %v", ep, found, err)
	}
	c := ep.Client(d.operator)
	defer c.Close()
	if err := c.RPC(t.Context(), "health", nil, nil); err != nil {
		t.Errorf("the pinned certificate: %v", err)
	}
	other := ep
	other.Fingerprint = strings.Repeat("ab", 32)
	wrong := other.Client(d.operator)
	defer wrong.Close()
	if err := wrong.RPC(t.Context(), "health", nil, nil); err == nil || !strings.Contains(err.Error(), "fingerprint") {
		t.Errorf("another certificate: %v", err)
	}
	other.Fingerprint = ""
	unknown := other.Client(d.operator)
	defer unknown.Close()
	if err := unknown.RPC(t.Context(), "health", nil, nil); err == nil {
		t.Error("a certificate that nobody vouches for was taken")
	}
	if resp, err := http.Get("http" + strings.TrimPrefix(d.url, "https") + "/healthz"); err == nil {
		if _ = resp.Body.Close(); resp.StatusCode != http.StatusBadRequest {
			t.Errorf("in the clear: %d", resp.StatusCode)
		}
	}
	if info, err := os.Stat(filepath.Join(dir, "tls", "gateway-key.pem")); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("key: %v %v", info, err)
	}
	if err := d.stop(); err != nil {
		t.Fatal(err)
	}
	if again := run(t, dir, withTLS); again.info.Fingerprint != d.info.Fingerprint {
		t.Error("the certificate changed with a restart")
	}
}

// TestTLS_Socket: the WebSocket works over TLS, and a page of the same name without TLS is a
// foreign one (C-7).
func TestTLS_Socket(t *testing.T) {
	d := run(t, t.TempDir(), withTLS)
	// The test is about what is served; TestTLS is about who is believed.
	trusting := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	defer trusting.CloseIdleConnections()
	host := strings.TrimPrefix(d.url, "https://")
	for origin, want := range map[string]bool{"": true, "https://" + host: true, "http://" + host: false} {
		header := http.Header{}
		if origin != "" {
			header.Set("Origin", origin)
		}
		ws, resp, err := websocket.Dial(t.Context(), "wss://"+host, &websocket.DialOptions{HTTPClient: trusting, HTTPHeader: header})
		if (err == nil) != want {
			t.Errorf("origin %q: %v", origin, err)
		}
		if err != nil {
			if resp == nil || resp.StatusCode != http.StatusForbidden {
				t.Errorf("origin %q: %+v", origin, resp)
			}
			continue
		}
		if _, data, err := ws.Read(t.Context()); err != nil || !strings.Contains(string(data), "connect.challenge") {
			t.Errorf("origin %q: %s %v", origin, data, err)
		}
		sum := sha256.Sum256(resp.TLS.PeerCertificates[0].Raw)
		if hex.EncodeToString(sum[:]) != d.info.Fingerprint {
			t.Error("the fingerprint is not the certificate's")
		}
		_ = ws.CloseNow()
	}
}

// TestTLS_Faults: what cannot be served is an error before anything listens.
func TestTLS_Faults(t *testing.T) {
	dir := t.TempDir()
	bad := filepath.Join(dir, "bad.pem")
	if err := os.WriteFile(bad, []byte("no certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	for settings, want := range map[string]string{
		`gateway:{port:0,tls:{enabled:true,certPath:"` + bad + `",keyPath:"` + bad + `"}}`:                 bad,
		`gateway:{port:0,tls:{enabled:true,certPath:"` + dir + `/gone.pem",keyPath:"` + dir + `/no.key"}}`: "gone.pem",
		`gateway:{port:0,tls:{enabled:true,caPath:"` + bad + `"}}`:                                         "caPath",
	} {
		opt := options(t, t.TempDir(), settings)
		if err := Run(t.Context(), opt); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "gateway.tls") {
			t.Errorf("%s: %v", settings, err)
		}
		if err := Check(opt.Config, opt.StateDir); err == nil {
			t.Errorf("%s: Check says it would start", settings)
		}
	}
}
