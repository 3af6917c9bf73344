package redact

import (
	"slices"
	"strings"
	"unicode"
)

// plainWords are values that are settings, not secrets.
var plainWords = []string{"true", "false", "yes", "no", "on", "off", "none", "null", "nil", "0", "1", "basic", "bearer", "auto"}

// aboutWords end names of things that are about a secret and are none.
var aboutWords = []string{"file", "path", "dir", "type", "ttl", "url", "uri", "host", "sock", "socket", "user", "username", "email", "name", "policy", "length", "limit", "count", "size", "mode", "stdin", "method", "expiry", "jar"}

// assigned judges NAME=VALUE and NAME: VALUE.
func assigned(front, secret string) bool {
	name := strings.TrimRight(front, " \t=:\"'\\")
	bare := strings.Trim(secret, `"'\`)
	if !secretName(name) || slices.Contains(plainWords, strings.ToLower(bare)) {
		return false
	}
	rest := front[len(name):]
	if strings.Contains(rest, ":") && !strings.ContainsAny(rest, `"'`) {
		// In prose a colon follows many a word: only what looks like a secret counts.
		return mixed(front, bare) || len(bare) >= 12
	}
	parts := nameParts(name)
	if last := parts[len(parts)-1]; last == "auth" || last == "tokens" {
		return mixed(front, bare) && strings.ContainsFunc(bare, func(r rune) bool { return !unicode.IsDigit(r) })
	}
	return true
}

// option judges --name VALUE.
func option(front, secret string) bool {
	name := strings.TrimSpace(front)
	if at := strings.LastIndexAny(name, " \t"); at >= 0 { // -p of a program
		return !strings.HasPrefix(secret, "-")
	}
	return !strings.HasPrefix(secret, "-") && assigned(name+"=", secret)
}

// mixed says if a value is more than a word: it has a digit, or a capital inside.
func mixed(_, secret string) bool {
	for i, r := range strings.Trim(secret, `"'\`) {
		if unicode.IsDigit(r) || i > 0 && unicode.IsUpper(r) {
			return true
		}
	}
	return false
}

// secretName says if what has this name is a secret: dbPassword, API_TOKEN, --api-key;
// not author, PWD, tokenizer, SSH_AUTH_SOCK, password-file.
func secretName(name string) bool {
	parts := nameParts(name)
	if len(parts) == 0 || slices.Contains(aboutWords, parts[len(parts)-1]) || parts[0] == "max" {
		return false
	}
	joined := strings.Join(parts, "")
	for _, w := range []string{"password", "passwd", "passphrase", "credential", "apikey", "accesskey", "privatekey", "secretkey", "accountkey", "signingkey", "encryptionkey", "clientsecret"} {
		if strings.Contains(joined, w) {
			return true
		}
	}
	for i, p := range parts {
		switch {
		case slices.Contains([]string{"token", "tokens", "secret", "secrets", "auth", "authorization", "signature", "cookie"}, p),
			strings.HasSuffix(p, "token"), strings.HasSuffix(p, "secret"):
			return true
		case p == "pwd" && i > 0 && parts[0] != "old":
			return true
		}
	}
	return false
}

// nameParts splits a name at its marks and at capitals, in lower case.
func nameParts(name string) []string {
	var b strings.Builder
	lower := false
	for _, r := range name {
		if unicode.IsUpper(r) && lower {
			b.WriteByte(' ')
		}
		lower = unicode.IsLower(r)
		b.WriteRune(unicode.ToLower(r))
	}
	return strings.FieldsFunc(b.String(), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// tokenForms are secrets that show by their own form.
var tokenForms = lazy(`\b(?:gh[pousr]_[A-Za-z0-9]{10,}|github_pat_\w{20,}|gl(?:pat|dt|rt|soat)-[\w.-]{10,}` +
	`|xox[abeprs]-[\w-]{10,}|xapp-[\w-]{10,}|[sr]k_(?:live|test)_\w{10,}|whsec_\w{10,}|npm_[A-Za-z0-9]{30,}|pypi-[\w-]{30,}|hf_[A-Za-z0-9]{20,}` +
	`|AIza[\w-]{20,}|(?:AKIA|ASIA)[A-Za-z0-9]{12,}|ya29\.[\w.-]{10,}|GOCSPX-[\w-]{10,}|do[opr]_v1_\w{20,}|hv[sb]\.[\w-]{20,}|SG\.[\w-]{16,}\.[\w-]{16,}` +
	`|shp(?:at|ss|ca|pa)_\w{20,}|tskey-[\w-]{16,}|lin_api_\w{20,}|AGE-SECRET-KEY-1[A-Z0-9]{20,}` +
	`|eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*)`)

// looseToken is a form that words have as well: a digit makes the difference.
var looseToken = lazy(`\bsk-[\w-]{16,}`)

func tokens(s string) string {
	s = tokenForms().ReplaceAllString(s, Mask)
	return looseToken().ReplaceAllStringFunc(s, func(m string) string {
		if strings.ContainsFunc(m, unicode.IsDigit) {
			return Mask
		}
		return m
	})
}

var (
	keyBegin = lazy(`-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----`)
	keyLine  = lazy(`^((?:\s|\\n|\\r)*)([A-Za-z0-9+/=_-]+)`)
)

// keys masks the lines of private keys, each by itself: a command between the marks of a
// key stays in sight, unless it is one word that looks like part of a key.
func keys(s string) string {
	var b strings.Builder
	for {
		at := keyBegin().FindStringIndex(s)
		if at == nil {
			b.WriteString(s)
			return b.String()
		}
		b.WriteString(s[:at[1]])
		s = s[at[1]:]
		for {
			m := keyLine().FindStringSubmatchIndex(s)
			if m == nil || !keyPart(s[m[4]:m[5]]) {
				break
			}
			b.WriteString(s[:m[4]])
			b.WriteString(Mask)
			s = s[m[5]:]
		}
	}
}

// keyPart says if a word looks like a line of a private key and not like a command.
func keyPart(w string) bool {
	if strings.HasPrefix(w, "-") || strings.HasPrefix(w, "/") && !strings.Contains(w, "+") {
		return false
	}
	return len(w) >= 40 || strings.HasSuffix(w, "=") || strings.ContainsFunc(w, unicode.IsUpper) &&
		strings.ContainsFunc(w, unicode.IsLower) && strings.ContainsFunc(w, unicode.IsDigit)
}
