package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestC5_SecretIsNeverPrinted(t *testing.T) {
	const value = "hunter2-hunter2"
	c := mustParse(t, `{gateway: {auth: {token: '`+value+`'}}, channels: {x: {apiKey: '`+value+`'}}}`)
	s := c.Gateway.Auth.Token
	var out bytes.Buffer
	fmt.Fprintf(&out, "%v %+v %#v %s %q %x %d\n", s, s, s, s, s, s, s)
	fmt.Fprintf(&out, "%v %+v %#v %s\n", &s, []Secret{s}, map[string]Secret{"a": s}, struct{ S Secret }{s})
	fmt.Fprintf(&out, "%v %+v %#v\n", c.Gateway, c.Gateway, c.Gateway)
	fmt.Fprintf(&out, "%+v %#v\n", c.Channels, c.Channels)
	data, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	out.Write(data)
	log := slog.New(slog.NewTextHandler(&out, nil))
	log.Info("x", "secret", s, "gateway", c.Gateway)
	slog.New(slog.NewJSONHandler(&out, nil)).Info("x", "secret", s, "gateway", c.Gateway)
	if text := out.String(); strings.Contains(text, "hunter2") || strings.Contains(text, fmt.Sprintf("%x", value)) {
		t.Errorf("the secret shows in %s", text)
	}
	if s.Reveal() != value || !s.Equal(value) || s.Equal(value+"x") || (Secret{}).Equal("") {
		t.Error("Reveal or Equal is wrong")
	}
}

func TestC5_SecretSources(t *testing.T) {
	dir := t.TempDir()
	file := func(name, content string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		return filepath.ToSlash(path)
	}
	good := file("good", "from-file\n", 0o600)
	empty := file("empty", "\n", 0o600)

	tests := []struct{ token, want, fault string }{
		{`'plain'`, "plain", ""},
		{`'${GW}'`, "from-env", ""},
		{`'a-${GW}-b'`, "a-from-env-b", ""},
		{`'$${GW}'`, "${GW}", ""},
		{`'$GW {GW} ${gw}'`, "$GW {GW} ${gw}", ""},
		{`{source: 'env', id: 'GW'}`, "from-env", ""},
		{`{source: 'env', provider: 'default', name: 'GW'}`, "from-env", ""},
		{`{source: 'file', path: '` + good + `'}`, "from-file", ""},
		{`{source: 'file', id: '~/` + filepath.Base(good) + `'}`, "from-file", ""},

		{`''`, "", "expected a secret that is not empty"},
		{`5`, "", "expected a string, ${ENV_NAME} or {source: ...}, found a number"},
		{`'${NONE}'`, "", "environment variable NONE is not set; write $${NONE} if the text is meant"},
		{`{source: 'env', id: 'NONE'}`, "", "environment variable NONE is not set"},
		{`{source: 'env'}`, "", "expected id: the name of the environment variable"},
		{`{source: 'file', path: 'rel'}`, "", "expected path: an absolute path, or one that begins with ~/"},
		{`{source: 'file', path: '` + empty + `'}`, "", "is empty"},
		{`{source: 'file', path: '` + filepath.ToSlash(dir) + `/none'}`, "", "no such file"},
		{`{source: 'exec', id: 'pass show x'}`, "", `a secret from a command is not supported here; use {source: "env"} or {source: "file"}`},
		{`{source: 'vault'}`, "", `expected one of env, file, exec, found "vault"`},
		{`{}`, "", `expected source: "env" or "file" in a secret given as an object`},
		{`{source: 'env', id: 'GW', extra: 1}`, "", "unknown key"},
	}
	for _, tt := range tests {
		c, err := Parse("f", []byte(`{gateway: {auth: {token: `+tt.token+`}}}`), env("GW", "from-env", "HOME", dir))
		switch {
		case tt.fault == "" && err != nil:
			t.Errorf("%s: %v", tt.token, err)
		case tt.fault == "" && c.Gateway.Auth.Token.Reveal() != tt.want:
			t.Errorf("%s: %q", tt.token, c.Gateway.Auth.Token.Reveal())
		case tt.fault != "" && (err == nil || !strings.Contains(err.Error(), tt.fault)):
			t.Errorf("%s: %v, want %s", tt.token, err, tt.fault)
		}
	}
}

func TestC5_SyntaxErrorHidesAnUnquotedSecret(t *testing.T) {
	_, err := Parse("f", []byte(`{gateway: {auth: {token: hunter2}}}`), env())
	if err == nil || strings.Contains(err.Error(), "hunter2") || !strings.Contains(err.Error(), "1:26: gateway.auth.token: expected a value") {
		t.Errorf("err = %v", err)
	}
}

func TestChannelSecretThatIsMissingIsAWarning(t *testing.T) {
	c := mustParse(t, `{channels: {slack: {botToken: '${SLACK}', appToken: {source: 'exec', id: 'x'}, token: 'ok'}}}`)
	ch := c.Channels["slack"]
	if len(c.Warnings) != 2 || len(ch.Secrets) != 1 || ch.Secrets["token"].Reveal() != "ok" {
		t.Errorf("Warnings %q, Secrets %v", c.Warnings, ch.Secrets)
	}
}

func TestC6_TokenFromEnvironment(t *testing.T) {
	if c := mustParse(t, `{}`, "OPENCLAW_GATEWAY_TOKEN", "e"); c.Gateway.Auth.Token.Reveal() != "e" {
		t.Error("OPENCLAW_GATEWAY_TOKEN is not read")
	}
	if c := mustParse(t, `{gateway: {auth: {token: 'f'}}}`, "OPENCLAW_GATEWAY_TOKEN", "e"); c.Gateway.Auth.Token.Reveal() != "f" {
		t.Error("the environment won over the file")
	}
}
