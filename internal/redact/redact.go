// Package redact makes foreign text safe to show: it masks what looks like a secret
// . It decides nothing else and never fails; when in doubt it masks.
package redact

import "regexp"

// Mask stands in for a secret.
const Mask = "[redacted]"

// rule is one form of secret: what stays in front of it (group 1) and the secret.
type rule struct{ re *regexp.Regexp }

// The forms. A name that looks secret masks its whole value, quoted or not; well-known
// token forms are masked wherever they stand.
var rules = []rule{
	{regexp.MustCompile(`(?i)((?:bearer|basic)\s+)([A-Za-z0-9._~+/=-]{8,})`)},
	{regexp.MustCompile(`(?i)([\w.-]*(?:token|secret|passw(?:or)?d|passphrase|api[_-]?key|access[_-]?key|private[_-]?key|credential|auth)[\w.-]*["']?\s*[=:]\s*)("(?:[^"\\]|\\.)*"|'[^']*'|[^\s"'&;|]+)`)},
	{regexp.MustCompile(`(?i)(--?(?:[\w-]*-)?(?:token|secret|passw(?:or)?d|passphrase|api-?key|access-?key)\s+)("(?:[^"\\]|\\.)*"|'[^']*'|[^\s"'-][^\s"'&;|]*)`)},
	{regexp.MustCompile(`(://[^/\s:@]*:)([^@\s/]+)@`)},
	{regexp.MustCompile(`()\b((?:gh[pousr]_|github_pat_|glpat-|xox[abeprs]-|sk-|rk_live_|sk_live_|npm_|hf_|AIza|AKIA|ASIA|ya29\.)[A-Za-z0-9_\-.]{10,})`)},
	{regexp.MustCompile(`()(eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*)`)},
	{regexp.MustCompile(`()(-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$))`)},
}

// Text masks the secrets in a command line or in other text.
func Text(s string) string {
	for _, r := range rules {
		s = r.re.ReplaceAllStringFunc(s, func(m string) string {
			g := r.re.FindStringSubmatchIndex(m)
			return m[:g[3]] + Mask + m[g[5]:]
		})
	}
	return s
}
