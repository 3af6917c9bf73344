// Package redact makes foreign text safe to show: it masks what looks like a secret
// and shows what deceives the eye as escapes. It decides nothing and never
// fails. A mask never covers an operator, an expansion or a newline of a command, so that
// nobody can hide a command from a person by giving it the form of a secret.
package redact

import (
	"regexp"
	"strings"
	"sync"
)

// Mask stands in for a secret.
const Mask = "[redacted]"

// What a secret may consist of. Quoted ones may have blanks; none has an operator or an
// expansion: of such a value the part in front is masked.
const (
	word  = `[^\s"'\\&;|<>(){}$` + "`" + `]+`
	value = `("[^"\\\n&;|<>(){}$` + "`" + `]*"|'[^'\n&;|<>(){}$` + "`" + `]*'|\\?["']?` + word + `)`
	// within goes on to an option of the same simple command.
	within = `\b[^\n&;|]*?\s`
)

// pattern is a regular expression that is compiled when it is first used: most programs of
// ours never mask anything.
type pattern func() *regexp.Regexp

func lazy(expr string) pattern {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

// rule is one form of secret: what stays in front of it (group 1) and the secret (group
// 2). A text without any of the needles, in lower case, is not looked at. accept, if not
// nil, has the last word.
type rule struct {
	needles []string
	re      pattern
	accept  func(front, secret string) bool
}

var names = []string{"token", "secret", "passw", "passphrase", "pwd", "api", "key", "credential", "auth", "signature", "cookie"}

const nameForm = `[\w.-]*(?:token|secret|passw(?:or)?d|passphrase|pwd|api[_-]?key|(?:access|private|secret|account|signing|encryption)[_-]?key|credential|auth|signature|cookie)[\w.-]*`

// rules are tried in order, each in one pass of linear time; what programs take on their
// command line comes before the names, since -pSECRET may look like one.
var rules = []rule{
	{[]string{"authorization"}, lazy(`(?i)(authorization\\?["']?[ \t]*[:=][ \t]*\\?["']?(?:(?:bearer|basic|token|digest|negotiate|apikey|bot)[ \t]+)?)(` + word + `)`), nil},
	{[]string{"bearer"}, lazy(`(?i)(\bbearer[ \t]+)([A-Za-z0-9._~+/=-]{8,})`), mixed},
	{[]string{"://"}, lazy(`(://[^/\s:@"']*:)([^@\s/"'&;|<>(){}$` + "`" + `]+)@`), nil},
	{[]string{"curl"}, lazy(`(\bcurl` + within + `(?:-[a-zA-Z]*[uU]|--user|--proxy-user)[ =]?["']?[^\s"':&;|$-][^\s"':&;|$]*:)(` + word + `)`), nil},
	{[]string{"mysql", "mariadb", "7z"}, lazy(`(\b(?:mysql|mysqldump|mysqladmin|mysqlimport|mysqlshow|mariadb|mariadb-dump|7za?)` + within + `-p)` + value), nil},
	{[]string{"sshpass"}, lazy(`(\bsshpass` + within + `?-p[ \t]*)` + value), nil},
	{[]string{"login"}, lazy(`(\b(?:docker|podman|nerdctl|buildah|skopeo|crane|oras|helm|az)` + within + `login` + within + `-p[ =]?)` + value), nil},
	{[]string{"redis-cli"}, lazy(`(\bredis-cli` + within + `-a[ \t]+)` + value), nil},
	{[]string{"zip"}, lazy(`(\b(?:un)?zip` + within + `-P[ \t]*)` + value), nil},
	{[]string{"mongo"}, lazy(`(\bmongo(?:sh|dump|restore|export|import)?` + within + `-p[ \t]+)` + value), option},
	{[]string{"ldap"}, lazy(`(\bldap(?:search|add|modify|delete|whoami|passwd)` + within + `-w[ \t]*)` + value), nil},
	{[]string{"smbclient"}, lazy(`(\bsmbclient` + within + `(?:-U|--user)[ =]?["']?[^\s"'%&;|$]+%)(` + word + `)`), nil},
	{[]string{"pass:"}, lazy(`(\bpass:)(` + word + `)`), nil},
	{[]string{"hooks.slack.com"}, lazy(`(hooks\.slack\.com/services/\w+/\w+/)(\w+)`), nil},
	{[]string{"webhooks/"}, lazy(`(/api/webhooks/\d+/)([\w-]{20,})`), nil},
	{[]string{":aa"}, lazy(`(\b\d{8,12}:)(AA[\w-]{30,})`), nil},
	{names, lazy(`(?i)(` + nameForm + `(?:\\?["'])?(?:[ \t]*:[ \t]*|=|[ \t]+=[ \t]+))` + value), assigned},
	{names, lazy(`(?i)(--?` + nameForm + `[ \t]+)` + value), option},
}

// Text masks the secrets in a command line or in other text. The time is linear in the
// length, whatever stands there.
func Text(s string) string {
	s = keys(s)
	s = tokens(s)
	lower := strings.ToLower(s)
	code := sync.OnceValue(func() bool { return carriers().MatchString(lower) })
	for _, r := range rules {
		if contains(lower, r.needles) {
			s = r.apply(s, code)
		}
	}
	return s
}

// apply masks what the rule finds. With code, text in s may be run as a command, and a
// mask covers no blank.
func (r rule) apply(s string, code func() bool) string {
	var b strings.Builder
	last := 0
	for _, at := range r.re().FindAllStringSubmatchIndex(s, -1) {
		front, secret := s[at[2]:at[3]], s[at[4]:at[5]]
		if strings.HasPrefix(strings.TrimLeft(secret, `"'\`), Mask) || strings.Trim(secret, `"'\`) == "" || r.accept != nil && !r.accept(front, secret) {
			continue
		}
		end := at[5]
		if blank := strings.IndexAny(secret, " \t\r\v\f"); blank > 0 && (strings.ContainsAny(secret, "-/") || code()) {
			end = at[4] + blank
		}
		b.WriteString(s[last:at[4]])
		b.WriteString(Mask)
		last = end
	}
	b.WriteString(s[last:])
	return b.String()
}

func contains(s string, needles []string) bool {
	for _, n := range needles {
		if strings.Contains(s, n) {
			return true
		}
	}
	return false
}

// carriers finds, in lower case, what may run a part of a text as a command.
var carriers = lazy(`\b(?:(?:ba|da|z|k|fi|a)?sh|eval|source|ssh|su|sudo|env|xargs|watch|parallel|python[0-9.]*|perl|ruby|node|php|osascript|pwsh|powershell|cmd)\b|\s-c\b`)
