package identity_test

import (
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"openclaw/internal/identity"
	"openclaw/internal/safefile"
)

var (
	operator = identity.Credential{Kind: identity.KindOperator, ID: "operator"}
	plain    = identity.Credential{Kind: identity.KindAgent, ID: identity.DefaultID, Agent: "main"}
)

func TestC6_FirstStart(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	s := open(t, dir)
	for name, want := range map[string]identity.Credential{"gateway-token": operator, "agent-token": plain} {
		secret := readSecret(t, filepath.Join(dir, name))
		if raw, err := base64.RawURLEncoding.DecodeString(secret); err != nil || len(raw) != 32 {
			t.Errorf("%s is %d bytes, %v", name, len(raw), err)
		}
		assertCredential(t, s, secret, want)
		assertCredential(t, open(t, dir), secret, want) // a second start keeps it
	}
	for _, bad := range []string{"", " ", "x", strings.Repeat("a", 43)} {
		assertRefused(t, s, bad)
	}
}

func TestC6_SecretsOfClients(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	op, err := s.OperatorSecret()
	if err != nil || op != readSecret(t, filepath.Join(dir, "gateway-token")) {
		t.Errorf("OperatorSecret: %v", err)
	}
	ag, err := s.AgentSecret()
	if err != nil || ag != readSecret(t, filepath.Join(dir, "agent-token")) {
		t.Errorf("AgentSecret: %v", err)
	}
}

// However many start at once, they agree on one pair of secrets.
func TestC6_FirstStartWithoutRace(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	var mu sync.Mutex
	secrets := map[string]bool{}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			s, err := identity.Open(dir)
			if err != nil {
				t.Error(err)
				return
			}
			op, err := s.OperatorSecret()
			if err != nil {
				t.Error(err)
			}
			ag, err := s.AgentSecret()
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			secrets[op+" "+ag] = true
		})
	}
	wg.Wait()
	if len(secrets) != 1 {
		t.Errorf("%d pairs of secrets", len(secrets))
	}
}

func TestC6_GivenOperatorToken(t *testing.T) {
	dir := t.TempDir()
	fromFile := open(t, dir)
	s := fromFile.WithOperatorToken(" a given operator token \n")
	assertCredential(t, s, "a given operator token", operator)
	assertRefused(t, s, readSecret(t, filepath.Join(dir, "gateway-token")))
	assertCredential(t, s, readSecret(t, filepath.Join(dir, "agent-token")), plain)
	assertRefused(t, fromFile, "a given operator token")
	if got, err := s.OperatorSecret(); err != nil || got != "a given operator token" {
		t.Errorf("OperatorSecret: %v", err)
	}
	if fromFile.WithOperatorToken(" ") != fromFile {
		t.Error("an empty token changed the store")
	}
	// The same secret for both proves the lesser of the two.
	agent := readSecret(t, filepath.Join(dir, "agent-token"))
	assertCredential(t, fromFile.WithOperatorToken(agent), agent, plain)
}

func TestC6_CreateListRevoke(t *testing.T) {
	dir := t.TempDir()
	daemon, cli := open(t, dir), open(t, dir)
	tok, secret, err := cli.Create("Build-Bot", true, "laptop")
	if err != nil {
		t.Fatal(err)
	}
	if tok.Agent != "build-bot" || tok.Session != identity.SessionMain || tok.Label != "laptop" || tok.CreatedAtMs == 0 {
		t.Errorf("token %+v", tok)
	}
	other, otherSecret, err := cli.Create("main", false, "")
	if err != nil {
		t.Fatal(err)
	}
	assertCredential(t, daemon, secret, identity.Credential{Kind: identity.KindAgent, ID: tok.ID, Agent: "build-bot", MainSession: true})
	assertCredential(t, daemon, otherSecret, identity.Credential{Kind: identity.KindAgent, ID: other.ID, Agent: "main"})

	list, err := daemon.List()
	if err != nil || len(list) != 3 || list[0].ID != identity.DefaultID || list[1] != tok || list[2] != other {
		t.Errorf("List = %+v, %v", list, err)
	}
	data, err := os.ReadFile(filepath.Join(dir, "agent-tokens.json"))
	if err != nil || strings.Contains(string(data), secret) {
		t.Errorf("the document holds a secret, or %v", err)
	}

	if err := cli.Revoke(tok.ID); err != nil {
		t.Fatal(err)
	}
	assertRefused(t, daemon, secret)
	assertCredential(t, daemon, otherSecret, identity.Credential{Kind: identity.KindAgent, ID: other.ID, Agent: "main"})
	var unknown *identity.UnknownTokenError
	if err := cli.Revoke(tok.ID); !errors.As(err, &unknown) || unknown.ID != tok.ID {
		t.Errorf("second Revoke: %v", err)
	}
}

func TestC6_RevokeDefaultMakesNewSecret(t *testing.T) {
	dir := t.TempDir()
	daemon, cli := open(t, dir), open(t, dir)
	old := readSecret(t, filepath.Join(dir, "agent-token"))
	assertCredential(t, daemon, old, plain)
	if err := cli.Revoke(identity.DefaultID); err != nil {
		t.Fatal(err)
	}
	assertRefused(t, daemon, old)
	assertCredential(t, daemon, readSecret(t, filepath.Join(dir, "agent-token")), plain)
}

// Many changes within the file system's clock tick are all seen.
func TestC6_QuickChangesAreSeen(t *testing.T) {
	dir := t.TempDir()
	daemon, cli := open(t, dir), open(t, dir)
	for range 20 {
		tok, secret, err := cli.Create("a", false, "")
		if err != nil {
			t.Fatal(err)
		}
		assertCredential(t, daemon, secret, identity.Credential{Kind: identity.KindAgent, ID: tok.ID, Agent: "a"})
		if err := cli.Revoke(tok.ID); err != nil {
			t.Fatal(err)
		}
		assertRefused(t, daemon, secret)
	}
}

// A file that has been still for a while is not read again, and a change after that is seen.
func TestC6_ChangeAfterQuietTime(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	path := filepath.Join(dir, "agent-token")
	old := readSecret(t, path)
	hourAgo := time.Now().Add(-time.Hour)
	if err := os.Chtimes(path, hourAgo, hourAgo); err != nil {
		t.Fatal(err)
	}
	assertCredential(t, s, old, plain)
	assertCredential(t, s, old, plain)
	if err := safefile.Write(path, []byte("another secret of the agent")); err != nil {
		t.Fatal(err)
	}
	assertRefused(t, s, old)
	assertCredential(t, s, "another secret of the agent", plain)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	assertRefused(t, s, "another secret of the agent")
	if err := s.Problem(); err != nil {
		t.Errorf("a missing file is no damage: %v", err)
	}
}

func TestDamagedDocumentOpensNothing(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	_, secret, err := s.Create("a", false, "")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "agent-tokens.json")
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ name, old, new string }{
		{"cut", "\n}", ""},
		{"newer version", `"version": 1`, `"version": 2`},
		{"unknown key", `"version": 1`, `"version": 1, "more": true`},
		{"bad agent", `"agent": "a"`, `"agent": "A b"`},
		{"upper-case agent", `"agent": "a"`, `"agent": "A"`},
		{"bad session", `"session": ""`, `"session": "other"`},
		{"bad hash", `"sha256": "`, `"sha256": "zz`},
		{"text behind", "\n}", "\n} {}"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bad := strings.Replace(string(good), tt.old, tt.new, 1)
			if bad == string(good) {
				t.Fatal("the case changes nothing")
			}
			if err := safefile.Write(path, []byte(bad)); err != nil {
				t.Fatal(err)
			}
			assertRefused(t, s, secret)
			assertCredential(t, s, readSecret(t, filepath.Join(dir, "agent-token")), plain)
			for what, err := range map[string]error{"Problem": s.Problem(), "Revoke": s.Revoke("x"), "List": listErr(s), "Create": createErr(s)} {
				if !errors.Is(err, identity.ErrDamaged) {
					t.Errorf("%s: %v", what, err)
				}
			}
			if after, err := os.ReadFile(path); err != nil || string(after) != bad {
				t.Errorf("the damaged document was changed, or %v", err)
			}
		})
	}
}

func TestOpenRefusesDamage(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "gateway-token"), []byte("\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := identity.Open(dir); !errors.Is(err, identity.ErrDamaged) {
		t.Errorf("empty secret: %v", err)
	}
}

func TestAgentID(t *testing.T) {
	for in, want := range map[string]string{
		"main": "main", "Main": "main", "0a_b-c": "0a_b-c", strings.Repeat("a", 64): strings.Repeat("a", 64),
		"": "", "-a": "", "_a": "", "a b": "", "a/b": "", "a\n": "", "é": "", strings.Repeat("a", 65): "",
	} {
		got, err := identity.AgentID(in)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("AgentID(%q) = %q, %v", in, got, err)
		}
	}
	if _, _, err := open(t, t.TempDir()).Create("../x", false, ""); err == nil {
		t.Error("Create took a bad agent id")
	}
	if _, _, err := open(t, t.TempDir()).Create("x", false, "a\nb"); err == nil {
		t.Error("Create took a label with a control character")
	}
}

func TestStorePrintsNoSecret(t *testing.T) {
	const secret = "a given operator token"
	s := open(t, t.TempDir()).WithOperatorToken(secret)
	var log strings.Builder
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "store", s)
	for _, text := range []string{fmt.Sprint(s), fmt.Sprintf("%+v", s), fmt.Sprintf("%#v", s), log.String()} {
		if strings.Contains(text, secret) || strings.Contains(text, "sum") {
			t.Errorf("printed %q", text)
		}
	}
}

func BenchmarkAuthenticate(b *testing.B) {
	s, err := identity.Open(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	hourAgo := time.Now().Add(-time.Hour)
	for _, name := range []string{"gateway-token", "agent-token"} {
		if err := os.Chtimes(filepath.Join(stateDir(s), name), hourAgo, hourAgo); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		s.Authenticate("not a secret of this store")
	}
}

func stateDir(s *identity.Store) string { return strings.TrimPrefix(s.String(), "identity store of ") }

func listErr(s *identity.Store) error {
	_, err := s.List()
	return err
}

func createErr(s *identity.Store) error {
	_, _, err := s.Create("a", false, "")
	return err
}

func open(t *testing.T, dir string) *identity.Store {
	t.Helper()
	s, err := identity.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func readSecret(t *testing.T, path string) string {
	t.Helper()
	data, err := safefile.Read(path, 1000)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(data))
}

func assertCredential(t *testing.T, s *identity.Store, secret string, want identity.Credential) {
	t.Helper()
	if got, ok := s.Authenticate(secret); !ok || got != want {
		t.Errorf("Authenticate = %+v, %v; want %+v", got, ok, want)
	}
}

func assertRefused(t *testing.T, s *identity.Store, secret string) {
	t.Helper()
	if got, ok := s.Authenticate(secret); ok {
		t.Errorf("Authenticate accepted it as %+v", got)
	}
}
