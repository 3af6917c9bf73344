package host

import (
	"regexp"
	"strings"
)

// Limits of a snapshot: it is read before every command, and bash needs about a
// millisecond for each 15 KiB (BenchmarkX14_Snapshot).
const (
	maxSnapshot   = 128 << 10 // bytes; above it functions are left out
	maxDefinition = 32 << 10  // bytes of one alias or function; a longer one is left out
)

// definitionName is what an alias or function may be called to be taken over. Others are
// legal in some shells and a risk in the text we write.
var definitionName = regexp.MustCompile(`^[A-Za-z0-9_.:+@%,/-]+$`)

// word finds everything in a definition that could be the name of a function.
var word = regexp.MustCompile(`[A-Za-z0-9_.:+@%,/-]+`)

// secretText finds what looks like a secret: the known forms of tokens, keys, an
// assignment to a name that says so, a password in a URL. X-14 leaves such things out;
// one thing too many costs an alias, one too few puts a password on disk.
var secretText = lazy(`(?i)(?:api[_-]?key|secret|token|passw(?:or)?d|passphrase|credential|private[_-]?key|access[_-]?key)[A-Z0-9_-]*["']?\s*[=:]\s*["']?[A-Z0-9+/_.~-]{8,}` +
	`|bearer\s+[A-Z0-9+/_.~-]{8,}` +
	`|(?:ghp|gho|ghu|ghs|ghr|github_pat|glpat|xox[abeoprs]|sk|pk|rk|npm|pypi|hf|dop_v1|shpat)[-_][A-Z0-9_-]{16,}` +
	`|(?:AKIA|ASIA)[A-Z0-9]{16}|AIza[A-Z0-9_-]{30,}|eyJ[A-Z0-9_-]{8,}\.[A-Z0-9_-]{8,}\.` +
	`|-----BEGIN |://[^/\s:@"']*:[^/\s@"']+@`)

func looksSecret(text string) bool { return secretText().MatchString(text) }

// snapshotText makes the file that a shell reads before each command: functions,
// then aliases. It holds definitions only, nothing in it runs. "" = nothing to define.
// withFunctions false leaves the functions out: for a second try when the file with them
// is too long or cannot be read back.
func snapshotText(kind Kind, got *capture, withFunctions bool) string {
	if !got.complete {
		return "" // half of somebody's functions call the other half
	}
	aliases := keepAliases(got.aliases)
	var functions []definition
	if withFunctions {
		functions = keepFunctions(got.functions, aliases)
	}
	var text string
	switch kind {
	case KindBash:
		if len(aliases)+len(functions) == 0 {
			return ""
		}
		text = bashSnapshot(got.options, functions, aliases)
	case KindZsh: // never empty: it also puts PATH back after /etc/zshenv
		text = zshSnapshot(got.options, functions, aliases)
	}
	if len(text) > maxSnapshot && withFunctions {
		return snapshotText(kind, got, false)
	}
	if len(text) > maxSnapshot {
		return ""
	}
	return text
}

// bashSnapshot is read through BASH_ENV, which it takes away at its end: a bash that the
// command starts must not read it again, and a BASH_ENV that is still there afterwards
// tells that the file was not read to its end.
func bashSnapshot(options []string, functions, aliases []definition) string {
	var b strings.Builder
	b.WriteString("\\builtin shopt -u expand_aliases\n")
	for _, option := range options {
		b.WriteString("\\builtin shopt -s " + option + "\n")
	}
	writeDefinitions(&b, functions)
	for _, option := range options {
		b.WriteString("\\builtin shopt -u " + option + "\n")
	}
	writeDefinitions(&b, aliases)
	b.WriteString("\\builtin shopt -s expand_aliases\n\\builtin unset BASH_ENV\n")
	return b.String()
}

// zshSnapshot is the .zshenv in a folder that ZDOTDIR names. The operator's own ZDOTDIR
// and the PATH we decided on come in variables of ours and are put back at the end, after
// /etc/zshenv ran; none of ours is left for the command to see.
func zshSnapshot(options []string, functions, aliases []definition) string {
	var b strings.Builder
	b.WriteString("\\builtin setopt no_aliases\n")
	for _, option := range options {
		b.WriteString("\\builtin setopt " + option + "\n")
	}
	writeDefinitions(&b, functions)
	for _, option := range options {
		b.WriteString("\\builtin unsetopt " + option + "\n")
	}
	writeDefinitions(&b, aliases)
	b.WriteString(`\builtin setopt aliases
\builtin export PATH="$OPENCLAW_PATH"
if [[ -n "${OPENCLAW_ZDOTDIR+x}" ]]; then \builtin export ZDOTDIR="$OPENCLAW_ZDOTDIR"; else \builtin unset ZDOTDIR; fi
\builtin unset OPENCLAW_PATH OPENCLAW_ZDOTDIR
`)
	return b.String()
}

func writeDefinitions(b *strings.Builder, defs []definition) {
	for _, def := range defs {
		b.WriteString(strings.Trim(def.text, "\n"))
		b.WriteByte('\n')
	}
}

// keepAliases drops what must not or cannot be taken over, and rm, cp, mv and ln made to
// ask: nobody is there to answer, so they would quietly do nothing.
func keepAliases(defs []definition) []definition {
	var kept []definition
	for _, def := range defs {
		if !takeable(def) || !strings.HasPrefix(strings.TrimLeft(def.text, "\n"), "alias ") {
			continue
		}
		switch def.name {
		case "rm", "cp", "mv", "ln":
			if strings.Contains(def.text, " -i") || strings.Contains(def.text, " -I") || strings.Contains(def.text, "--interactive") {
				continue
			}
		}
		kept = append(kept, def)
	}
	return kept
}

// keepFunctions takes functions that a person would call. One whose name begins with "_"
// is by custom a part of something else: it stays only if a kept definition mentions it
// (conda needs __conda_activate). That leaves out the completion helpers, which are most
// of the text in a usual shell and of no use without a terminal. Stubs of zsh that load
// themselves from a folder are left out for the same reason.
func keepFunctions(defs, aliases []definition) []definition {
	byName := map[string]definition{}
	needed := map[string]bool{}
	var queue []definition
	for _, def := range defs {
		switch def.name {
		case "command_not_found_handle", "command_not_found_handler", "builtin":
			continue // suggestions cost a second a typo; builtin is what the snapshot itself calls
		}
		if !takeable(def) || runsItself(def.name) || strings.Contains(def.text, "builtin autoload -X") {
			continue
		}
		byName[def.name] = def
		if def.name[0] != '_' {
			needed[def.name] = true
			queue = append(queue, def)
		}
	}
	queue = append(queue, aliases...)
	for len(queue) > 0 {
		def := queue[0]
		queue = queue[1:]
		for _, name := range word.FindAllString(def.text, -1) {
			if found, ok := byName[name]; ok && !needed[name] {
				needed[name] = true
				queue = append(queue, found)
			}
		}
	}
	var kept []definition
	for _, def := range defs {
		if needed[def.name] {
			kept = append(kept, def)
		}
	}
	return kept
}

// runsItself knows the functions that zsh calls by their names: hooks of an interactive
// shell, and traps. In a command they would print or act without being asked for.
func runsItself(name string) bool {
	switch name {
	case "chpwd", "precmd", "preexec", "periodic", "zshaddhistory", "zshexit":
		return true
	}
	return strings.HasPrefix(name, "TRAP")
}

func takeable(def definition) bool {
	return definitionName.MatchString(def.name) && len(def.text) <= maxDefinition &&
		strings.TrimSpace(def.text) != "" && strings.IndexByte(def.text, 0) < 0 && !looksSecret(def.text)
}

// keepVars is the part of got that the start-up files set or changed and that holds no
// secret. What was in the environment before is there anyway.
func keepVars(vars map[string]string, getenv func(string) string) map[string]string {
	kept := map[string]string{}
	for _, name := range strings.Fields(capturedVars) {
		value, ok := vars[name]
		if !ok || value == getenv(name) || len(value) > 4096 || strings.IndexByte(value, 0) >= 0 || looksSecret(value) {
			continue
		}
		kept[name] = value
	}
	return kept
}
