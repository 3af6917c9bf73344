package policy

import "strings"

// smallEnv are the variables that a command, a wrapper or a request may set for a judged
// command (P-34).
const (
	smallEnv       = " TERM LANG COLORTERM NO_COLOR FORCE_COLOR "
	smallEnvPrefix = "LC_"
)

// inSmallEnv says why NAME=value is not allowed, "" = it is. A value with a slash is not:
// some of these lead to files.
func inSmallEnv(name, value string) string {
	if !validEnvName(name) || !inList(smallEnv, name) && !strings.HasPrefix(name, smallEnvPrefix) {
		return name + " may not be set for a judged command; only TERM, LANG, LC_*, COLORTERM, NO_COLOR and FORCE_COLOR may"
	}
	if len(value) > 128 || strings.ContainsAny(value, "/\\") || strings.HasPrefix(value, "()") {
		return "the value of " + name + " is not plain"
	}
	for i := range len(value) {
		if value[i] < 0x20 || value[i] >= 0x7f {
			return "the value of " + name + " is not plain"
		}
	}
	return ""
}
