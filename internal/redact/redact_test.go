package redact

import (
	"strings"
	"testing"
	"time"
)

func TestA23Text(t *testing.T) {
	const s = "hunter2secretvalue"
	for _, in := range []string{
		"TOKEN=" + s + " make", `export API_KEY="` + s + `"`, "curl -H 'Authorization: Bearer " + s + "' x",
		"deploy --password " + s, "deploy --api-key=" + s, "git clone https://user:" + s + "@host/r",
		`{"client_secret": "` + s + `"}`, "echo ghp_" + s, "x AKIA" + s, "MYSQL_PWD_PASSWORD='" + s + "'",
	} {
		if got := Text(in); strings.Contains(got, s) {
			t.Errorf("%q left the secret in: %q", in, got)
		}
	}
	for _, in := range []string{"ls -la", "git commit -m 'add author'", "make test", "echo a=b", "grep -r pattern ."} {
		if got := Text(in); got != in {
			t.Errorf("%q was changed to %q", in, got)
		}
	}
}

// TestA23_Forms: the secret goes, all else stays.
func TestA23_Forms(t *testing.T) {
	const m = Mask
	for in, want := range map[string]string{
		"curl -u bob:hunter2 https://x":                "curl -u bob:" + m + " https://x",
		"curl -sSu 'bob:hunter2' https://x":            "curl -sSu 'bob:" + m + "' https://x",
		"curl --user=bob:hunter2 x":                    "curl --user=bob:" + m + " x",
		"mysql -u root -pSECRET db":                    "mysql -u root -p" + m + " db",
		"docker login -u a -p hunter2 reg":             "docker login -u a -p " + m + " reg",
		"sshpass -p hunter2 ssh h":                     "sshpass -p " + m + " ssh h",
		"sshpass -phunter2 ssh h":                      "sshpass -p" + m + " ssh h",
		"PGPASSWORD=hunter2 psql":                      "PGPASSWORD=" + m + " psql",
		"MYSQL_PWD=hunter2 mysql":                      "MYSQL_PWD=" + m + " mysql",
		"x --password=hunter2 y":                       "x --password=" + m + " y",
		"x --password hunter2 y":                       "x --password " + m + " y",
		"git clone https://u:hunter2@h/r":              "git clone https://u:" + m + "@h/r",
		"curl -H 'Authorization: Basic aGk6aG8=' x":    "curl -H 'Authorization: Basic " + m + "' x",
		"redis-cli -a hunter2 ping":                    "redis-cli -a " + m + " ping",
		"openssl rsa -passin pass:hunter2 -in k":       "openssl rsa -passin pass:" + m + " -in k",
		`{"clientSecret":"hunter two"}`:                `{"clientSecret":` + m + `}`,
		"AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG":  "AWS_SECRET_ACCESS_KEY=" + m,
		"x AKIAIOSFODNN7EXAMPLE y":                     "x " + m + " y",
		"x xoxb-123456789012-abcdef y":                 "x " + m + " y",
		"stripe sk_live_abcdefghij0123":                "stripe " + m,
		"x eyJhbGciOiJub25lIn0.eyJzdWIiOiIx.c2ln-_ y":  "x " + m + " y",
		"curl 'https://h/?a=1&access_token=hunter2&b'": "curl 'https://h/?a=1&access_token=" + m + "&b'",
		"-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA7\n-----END RSA PRIVATE KEY-----": "-----BEGIN RSA PRIVATE KEY-----\n" + m + "\n-----END RSA PRIVATE KEY-----",
	} {
		got := Text(in)
		if got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
		if again := Text(got); again != got {
			t.Errorf("%q becomes %q when it is masked again", got, again)
		}
	}
}

// TestA23_Everyday: commands without a secret stay as they are.
func TestA23_Everyday(t *testing.T) {
	for _, in := range []string{
		"git log --author=Bob", "git commit -m 'auth: fix login'", "git commit -m 'add basic authentication'", "cd $HOME && PWD=/tmp make",
		"mkdir -p a/b", "ssh -p 22 h", "docker run -p 80:80 nginx", "cat /etc/passwd", "SSH_AUTH_SOCK=/tmp/agent ssh h", "npm_config_registry=https://r npm i",
		"x --password-file /run/p", "docker login --password-stdin", "TOKEN=$TOKEN make", "TOKEN=$(cat f) make", "x --max-tokens 4096", "x max_tokens=100",
		"grep -r 'password' src", "grep -rn token= src", "pip install sk-learn-contrib-extras", "curl -o x https://h:80/p", "python train.py --tokenizer=bert",
		"curl -s https://example.com/a:b", "mysql -p db", "x --auth=none", "unzip -l a.zip", "echo 'a: b'", "ls -la | sort -u", "git push origin HEAD:main",
	} {
		if got := Text(in); got != in {
			t.Errorf("%q becomes %q", in, got)
		}
	}
}

// TestA23_HidesNoCommand: text that only looks like a secret hides nothing that runs.
func TestA23_HidesNoCommand(t *testing.T) {
	for _, in := range []string{
		"TOKEN=$(reboot now)", "TOKEN=`reboot`", "TOKEN=x;reboot", "TOKEN=\"x$(reboot)\"", "echo 'token=\"'; reboot; echo '\"'",
		"bash -c PASSWORD='x reboot'", "eval \"TOKEN='x' reboot\"", ": -----BEGIN PRIVATE KEY-----; reboot", "-----BEGIN PRIVATE KEY-----\nreboot\n-----END PRIVATE KEY-----",
		"token:\nreboot", "curl -u a:b;reboot", "mysql -px|reboot", "x ://a:b;reboot @c", "x --password 'a' reboot", "sshpass -p x reboot",
	} {
		if got := Text(in); !strings.Contains(got, "reboot") {
			t.Errorf("%q becomes %q", in, got)
		}
	}
}

// FuzzText: no operator, expansion or newline is ever covered.
func FuzzText(f *testing.F) {
	f.Add("PASSWORD=a b")
	f.Add("curl -u a:b; TOKEN=\"x;$(y)\" `z` | token: 'a b'\n-----BEGIN PRIVATE KEY-----\nAAAAAAAAAAAAAAA=")
	operators := func(s string) string {
		return strings.Map(func(r rune) rune {
			if strings.ContainsRune(";|&<>(){}$`\n", r) {
				return r
			}
			return -1
		}, s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if got := Text(s); operators(got) != operators(s) {
			t.Errorf("%q becomes %q", s, got)
		}
	})
}

func BenchmarkText(b *testing.B) {
	for name, unit := range map[string]string{"plain": "git commit -m 'x'; ", "names": "token=\"token=", "curl": "curl -u a ", "begin": "-----BEGIN PRIVATE KEY-----", "long": "a-token"} {
		s := strings.Repeat(unit, 64<<10/len(unit))
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(s)))
			for b.Loop() {
				Text(s)
			}
		})
	}
}

// TestA23_Long: what is hard to search takes time in proportion to its length.
func TestA23_Long(t *testing.T) {
	for _, unit := range []string{"token=\"token=", "a-token", "-----BEGIN PRIVATE KEY-----", "://a:b", "curl -u a "} {
		start := time.Now()
		Text(strings.Repeat(unit, 128<<10/len(unit)))
		if took := time.Since(start); took > 10*time.Second {
			t.Errorf("%q: %v", unit, took)
		}
	}
}
