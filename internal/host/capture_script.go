package host

import "strings"

// The scripts below are constants: nothing is ever put into them. What they need comes in
// variables: OPENCLAW_CAPTURE the mark, OPENCLAW_CAPTURE_SCRIPT the script,
// OPENCLAW_CAPTURE_RC set when ~/.bashrc is to be read too.
//
// They run after somebody's start-up files, so they count on nothing: aliases are turned
// off before the script is read (a global alias of zsh could replace any word), builtins
// are called as such, traps and options that stop or print are taken back.

// capturedVars are taken from the start-up files into commands: where tools are
// installed and which language and time zone people use. Nothing that names a program to
// start (EDITOR, PAGER: nobody is there to use one), nothing that holds a secret.
const capturedVars = "LANG LANGUAGE LC_ALL LC_CTYPE LC_COLLATE LC_MESSAGES LC_MONETARY LC_NUMERIC LC_TIME TZ " +
	"MANPATH INFOPATH XDG_CONFIG_HOME XDG_DATA_HOME XDG_CACHE_HOME XDG_STATE_HOME XDG_DATA_DIRS XDG_CONFIG_DIRS " +
	"JAVA_HOME GOPATH GOROOT GOBIN CARGO_HOME RUSTUP_HOME NVM_DIR FNM_DIR VOLTA_HOME PNPM_HOME BUN_INSTALL DENO_INSTALL " +
	"PYENV_ROOT RBENV_ROOT ASDF_DIR ASDF_DATA_DIR SDKMAN_DIR CONDA_EXE MAMBA_ROOT_PREFIX GEM_HOME ANDROID_HOME ANDROID_SDK_ROOT " +
	"HOMEBREW_PREFIX HOMEBREW_CELLAR HOMEBREW_REPOSITORY NIX_PATH NIX_PROFILES NIX_SSL_CERT_FILE SSL_CERT_FILE SSL_CERT_DIR " +
	"NODE_EXTRA_CA_CERTS REQUESTS_CA_BUNDLE KUBECONFIG HTTP_PROXY HTTPS_PROXY NO_PROXY ALL_PROXY http_proxy https_proxy no_proxy all_proxy"

// captureStub is the text after -c. It turns aliases off and only then has the script read.
func captureStub(kind Kind) string {
	switch kind {
	case KindBash:
		return `\builtin shopt -u expand_aliases
\builtin eval "$OPENCLAW_CAPTURE_SCRIPT"`
	case KindZsh:
		return `\builtin setopt no_aliases; \builtin eval "$OPENCLAW_CAPTURE_SCRIPT"`
	case KindFish:
		return captureFish
	}
	return `\unalias -a
\eval "$OPENCLAW_CAPTURE_SCRIPT"`
}

// captureScript is the script for a kind of shell.
func captureScript(kind Kind) string {
	switch kind {
	case KindBash:
		return captureBash + varLines(`builtin `) + captureBashRest
	case KindZsh:
		return captureZsh + varLines(`builtin `) + captureZshRest
	case KindFish:
		return ""
	}
	return capturePOSIX + varLines(`command `) + `command printf '\n%s end\n' "$OPENCLAW_CAPTURE"
`
}

// varLines prints each of capturedVars that is set.
func varLines(call string) string {
	var b strings.Builder
	for _, name := range strings.Fields(capturedVars) {
		b.WriteString(`if [ -n "${` + name + `+x}" ]; then ` + call +
			`printf '\n%s var ` + name + `\n%s' "$OPENCLAW_CAPTURE" "$` + name + `"; fi` + "\n")
	}
	return b.String()
}

const capturePOSIX = `set +eux
command printf '\n%s path\n%s' "$OPENCLAW_CAPTURE" "$PATH"
`

const captureFish = `builtin printf '\n%s path\n%s\n%s end\n' $OPENCLAW_CAPTURE (string join : $PATH) $OPENCLAW_CAPTURE`

const captureBash = `builtin unset HISTFILE
builtin trap - DEBUG ERR RETURN EXIT
builtin set +evxuf
builtin printf '\n%s path\n%s\n%s none\n' "$OPENCLAW_CAPTURE" "$PATH" "$OPENCLAW_CAPTURE"
if [ -n "${OPENCLAW_CAPTURE_RC-}" ] && [ -r "$HOME/.bashrc" ]; then
	builtin source "$HOME/.bashrc" >/dev/null </dev/null
	builtin shopt -u expand_aliases
fi
builtin unset HISTFILE
builtin trap - DEBUG ERR RETURN EXIT
builtin set +evxu -f
IFS=$' \t\n'
`

const captureBashRest = `if builtin shopt -q extglob; then builtin printf '\n%s option extglob' "$OPENCLAW_CAPTURE"; fi
for OPENCLAW_NAME in $(builtin compgen -A function); do
	builtin printf '\n%s function %s\n' "$OPENCLAW_CAPTURE" "$OPENCLAW_NAME"
	builtin declare -f -- "$OPENCLAW_NAME"
done
for OPENCLAW_NAME in $(builtin compgen -A alias); do
	builtin printf '\n%s alias %s\n' "$OPENCLAW_CAPTURE" "$OPENCLAW_NAME"
	builtin alias -- "$OPENCLAW_NAME"
done
builtin printf '\n%s end\n' "$OPENCLAW_CAPTURE"
builtin exit 0
`

const captureZsh = `builtin unset HISTFILE
builtin trap - DEBUG ZERR EXIT
builtin printf '\n%s path\n%s' "$OPENCLAW_CAPTURE" "$PATH"
builtin printf '\n%s zdotdir\n%s' "$OPENCLAW_CAPTURE" "${ZDOTDIR-}"
for OPENCLAW_NAME in extendedglob kshglob rcquotes interactivecomments ignorebraces ignoreclosebraces cshjunkiequotes shglob; do
	if [[ -o $OPENCLAW_NAME ]]; then builtin printf '\n%s option %s' "$OPENCLAW_CAPTURE" "$OPENCLAW_NAME"; fi
done
builtin setopt unset no_xtrace no_verbose no_err_exit no_ksh_arrays no_sh_word_split no_glob
`

const captureZshRest = `for OPENCLAW_NAME in "${(@ok)functions}"; do
	builtin printf '\n%s function %s\n' "$OPENCLAW_CAPTURE" "$OPENCLAW_NAME"
	builtin functions -- "$OPENCLAW_NAME"
done
for OPENCLAW_NAME in "${(@ok)aliases}"; do
	builtin printf '\n%s alias %s\n' "$OPENCLAW_CAPTURE" "$OPENCLAW_NAME"
	builtin alias -L -- "$OPENCLAW_NAME"
done
for OPENCLAW_NAME in "${(@ok)galiases}"; do
	builtin printf '\n%s alias %s\n' "$OPENCLAW_CAPTURE" "$OPENCLAW_NAME"
	builtin alias -gL -- "$OPENCLAW_NAME"
done
for OPENCLAW_NAME in "${(@ok)saliases}"; do
	builtin printf '\n%s alias %s\n' "$OPENCLAW_CAPTURE" "$OPENCLAW_NAME"
	builtin alias -sL -- "$OPENCLAW_NAME"
done
builtin printf '\n%s end\n' "$OPENCLAW_CAPTURE"
builtin exit 0
`
