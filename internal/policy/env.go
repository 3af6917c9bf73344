package policy

import (
	"fmt"
	"sort"
	"strings"
)

// The X-10 table: variables that make a program load or run code, or look for its
// settings where the caller wants it to. Names are compared exactly, except where the
// machine that runs the command folds case (Windows): there CheckEnvFold is used.
// The table is wide on purpose. A name that is missing here lets a caller turn a
// command that somebody judged into another one; a name too many costs the caller an
// error that says to write it into the command, where it is judged.

// envClass says when a row applies.
type envClass uint8

const (
	// envAlways is refused in every mode: the spec names these.
	envAlways envClass = iota + 1
	// envJudged is refused when the command was judged or approved, and is taken
	// out of the operator's environment for such a run (P-60).
	envJudged
	// envCaller is refused like envJudged, but the operator's own value stays in
	// the environment of a judged run: it says where things are, and only a
	// caller's choice of it is a danger.
	envCaller
	// envInternal is ours; a caller must not forge it in any mode.
	envInternal
)

// envRow is one group of the table. A name belongs to it if it is in names, begins with
// one of prefixes or ends with one of suffixes.
type envRow struct {
	class    envClass
	why      string
	names    string // separated by blanks
	prefixes []string
	suffixes []string
	except   string // names under a prefix that are harmless; a trailing * is a prefix
}

// envTable is searched from the top; the first row that has the name decides.
var envTable = []envRow{
	{class: envInternal, why: "belongs to openclaw itself", prefixes: []string{"OPENCLAW_"}},
	{class: envAlways, why: "decides which programs the command's words mean", names: "PATH"},
	{class: envAlways, why: "makes the loader put other code into every program", prefixes: []string{"LD_", "DYLD_"}},

	{
		class: envJudged, why: "makes the loader or the C library load code or change its behaviour",
		names: "LIBPATH SHLIB_PATH GCONV_PATH LOCPATH NLSPATH GLIBC_TUNABLES GETCONF_DIR TERMINFO TERMINFO_DIRS TERMCAP " +
			"OPENSSL_CONF OPENSSL_ENGINES OPENSSL_MODULES GIO_EXTRA_MODULES GIO_MODULE_DIR GTK_MODULES GTK_PATH QT_PLUGIN_PATH",
		prefixes: []string{"MALLOC_", "_RLD", "GST_PLUGIN_"},
	},
	{
		class: envJudged, why: "makes a shell run code or read the command differently",
		names: "BASH_ENV ENV BASHOPTS SHELLOPTS PROMPT_COMMAND PROMPT IFS PS0 PS1 PS2 PS3 PS4 CDPATH GLOBIGNORE FPATH ZDOTDIR " +
			"MODULE_PATH NULLCMD READNULLCMD POSIXLY_CORRECT BASH_COMPAT BASH_XTRACEFD BASH_LOADABLES_PATH EXECIGNORE " +
			"FIGNORE FCEDIT INPUTRC HISTFILE PATHEXT COMSPEC PSMODULEPATH PSModulePath",
		prefixes: []string{"BASH_FUNC_"},
	},
	{
		class: envJudged, why: "names a pager that programs start", names: "LESS LESSOPEN LESSCLOSE LESSKEY LESSKEYIN LESSKEY_CONTENT LESSKEY_SYSTEM LESSEDIT MORE",
		suffixes: []string{"PAGER"},
	},
	{
		class: envJudged, why: "names a program that other programs start",
		names: "VISUAL TEXEDIT BROWSER RSYNC_RSH RSYNC_CONNECT_PROG CVS_RSH SVN_SSH HGMERGE DIFFPROG SUDO_PROMPT " +
			"SSH_ASKPASS_REQUIRE GREP_OPTIONS TAR_OPTIONS GZIP BZIP2 BZIP XZ_OPT XZ_DEFAULTS ZIPOPT UNZIP RIPGREP_CONFIG_PATH FZF_DEFAULT_COMMAND FZF_DEFAULT_OPTS",
		suffixes: []string{"EDITOR", "ASKPASS", "_BROWSER"},
	},
	{
		class: envJudged, why: "makes git run programs or read other settings", prefixes: []string{"GIT_"},
		except: "GIT_AUTHOR_* GIT_COMMITTER_* GIT_TERMINAL_PROMPT GIT_OPTIONAL_LOCKS GIT_MERGE_AUTOEDIT GIT_FLUSH",
	},
	{
		class: envJudged, why: "makes an interpreter load or run code",
		names: "NODE_OPTIONS NODE_PATH NODE_REPL_EXTERNAL_MODULE NODE_EXTRA_CA_CERTS " +
			"PYTHONSTARTUP PYTHONPATH PYTHONHOME PYTHONUSERBASE PYTHONBREAKPOINT PYTHONINSPECT PYTHONPLATLIBDIR PYTHONWARNINGS " +
			"PYTHONEXECUTABLE PYTHONPYCACHEPREFIX PYTHONCASEOK __PYVENV_LAUNCHER__ " +
			"RUBYOPT RUBYLIB RUBYSHELL RUBYPATH PHPRC PHP_INI_SCAN_DIR TCLLIBPATH TCL_LIBRARY " +
			"R_PROFILE R_PROFILE_USER R_ENVIRON R_ENVIRON_USER R_HOME AWKPATH AWKLIBPATH GAWKPATH " +
			"EMACSLOADPATH VIMINIT GVIMINIT EXINIT VIM VIMRUNTIME MYVIMRC GUILE_LOAD_PATH GUILE_LOAD_COMPILED_PATH ERL_FLAGS ERL_LIBS ELIXIR_ERL_OPTIONS",
		prefixes: []string{"PERL5", "LUA_", "R_LIBS", "JULIA_", "TS_NODE_", "DOTNET_", "CORECLR_", "COR_", "COMPlus_", "DENO_", "BUN_", "ELECTRON_", "ERL_AFLAGS", "ERL_ZFLAGS"},
	},
	{
		class: envJudged, why: "passes options to a Java virtual machine or a build tool on it",
		names: "JAVA_TOOL_OPTIONS _JAVA_OPTIONS JDK_JAVA_OPTIONS JAVA_OPTS CLASSPATH MAVEN_OPTS MAVEN_ARGS GRADLE_OPTS ANT_OPTS ANT_ARGS SBT_OPTS LEIN_JVM_OPTS",
	},
	{
		class: envJudged, why: "makes a build tool run other programs or other code",
		names: "MAKEFLAGS MFLAGS GNUMAKEFLAGS MAKEFILES MAKESHELL MAKE GOFLAGS GOENV GOCACHEPROG GOAUTH GOTOOLDIR GOEXPERIMENT " +
			"RUSTC RUSTC_WRAPPER RUSTC_WORKSPACE_WRAPPER RUSTDOC RUSTFLAGS RUSTDOCFLAGS " +
			"CC CXX CPP FC AR AS LD NM RANLIB STRIP CFLAGS CPPFLAGS CXXFLAGS LDFLAGS GCC_EXEC_PREFIX COMPILER_PATH LIBRARY_PATH CPATH " +
			"GCC_COMPARE_DEBUG PKG_CONFIG M4 YACC LEX",
		prefixes: []string{"CGO_", "CARGO_BUILD_", "CARGO_TARGET_", "CARGO_ALIAS_", "CARGO_ENCODED_", "CMAKE_", "CCACHE_", "DISTCC_", "TF_CLI_", "ANSIBLE_"},
	},

	{
		class: envCaller, why: "moves the place where programs look for settings, plugins or code",
		names: "HOME SHELL USERPROFILE APPDATA LOCALAPPDATA HOMEDRIVE HOMEPATH SYSTEMROOT SystemRoot " +
			"GOPATH GOROOT GOTOOLCHAIN GOPROXY GOSUMDB GONOSUMDB GONOSUMCHECK GOPRIVATE GOINSECURE GOBIN JAVA_HOME GRADLE_USER_HOME " +
			"CURL_HOME WGETRC SYSTEM_WGETRC PSQLRC MYSQL_HOME AWS_CONFIG_FILE AWS_SHARED_CREDENTIALS_FILE KUBECONFIG " +
			"DOCKER_CONFIG DOCKER_HOST GNUPGHOME KRB5_CONFIG SSLKEYLOGFILE SSH_AUTH_SOCK CMDSTAN VIRTUAL_ENV CONDA_PREFIX",
		prefixes: []string{"XDG_", "CARGO_", "RUSTUP_", "NPM_CONFIG_", "npm_config_", "YARN_", "PNPM_", "COREPACK_", "PIP_", "UV_", "POETRY_", "CONDA_", "GEM_", "BUNDLE_"},
	},
}

// EnvError refuses one variable of a request's env.
type EnvError struct {
	Name   string // as the caller wrote it
	Reason string // what the variable would do, or what is wrong with it
	Hint   string // what to do instead
	Always bool   // refused in every mode, not only for judged commands
}

// Rule returns the rule's number.
func (e *EnvError) Rule() string { return "X-10" }

// Error names the variable, the reason, the rule and what to do.
func (e *EnvError) Error() string {
	return fmt.Sprintf("env.%s is refused: it %s (%s); %s", shownName(e.Name), e.Reason, e.Rule(), e.Hint)
}

// shownName keeps a foreign name readable and short in an error.
func shownName(name string) string {
	if validEnvName(name) && len(name) <= 64 {
		return name
	}
	if len(name) > 64 {
		name = name[:64]
	}
	return fmt.Sprintf("%q", name)
}

// CheckEnv checks a request's env by X-10 and returns a copy to use: pagers set to "cat"
// or nothing become empty. judged is true when the command is judged or approved; then
// the whole table applies, else only PATH, the loader's variables and our own. The
// error is an *EnvError for the first refused name in sorted order. Names are
// case-sensitive, as they are on Unix; for a Windows target use CheckEnvFold.
func CheckEnv(env map[string]string, judged bool) (clean map[string]string, err error) {
	return checkEnv(env, judged, false)
}

// CheckEnvFold is CheckEnv for a machine whose variable names ignore case. Two names
// that differ in case only are refused.
func CheckEnvFold(env map[string]string, judged bool) (clean map[string]string, err error) {
	return checkEnv(env, judged, true)
}

func checkEnv(env map[string]string, judged, fold bool) (map[string]string, error) {
	if len(env) == 0 {
		return nil, nil
	}
	names := make([]string, 0, len(env))
	for name := range env {
		names = append(names, name)
	}
	sort.Strings(names)
	clean := make(map[string]string, len(env))
	var seen map[string]bool
	if fold {
		seen = make(map[string]bool, len(env))
	}
	for _, name := range names {
		value, err := checkVar(name, env[name], judged, fold)
		if err != nil {
			return nil, err
		}
		if fold {
			key := strings.ToUpper(name)
			if seen[key] {
				return nil, &EnvError{Name: name, Reason: "is given twice in different case", Hint: "give it once", Always: true}
			}
			seen[key] = true
		}
		clean[name] = value
	}
	return clean, nil
}

// checkVar checks one variable and returns the value to use.
func checkVar(name, value string, judged, fold bool) (string, error) {
	if !validEnvName(name) {
		return "", &EnvError{
			Name: name, Reason: "is not a variable name", Always: true,
			Hint: "use letters, digits and _, not beginning with a digit",
		}
	}
	if strings.IndexByte(value, 0) >= 0 {
		return "", &EnvError{Name: name, Reason: "has a NUL byte in its value", Hint: "remove the byte", Always: true}
	}
	row := findEnvRow(name, fold)
	if row == nil {
		// Old shells took a function from any variable whose value looks like one.
		if judged && strings.HasPrefix(value, "()") {
			return "", &EnvError{Name: name, Reason: "has the form of an exported shell function", Hint: judgedHint}
		}
		return value, nil
	}
	if row.class == envJudged && quietPager(name, value, fold) {
		return "", nil
	}
	switch {
	case row.class == envInternal:
		return "", &EnvError{Name: name, Reason: row.why, Hint: "leave it out", Always: true}
	case row.class == envAlways && name != "PATH" && !(fold && strings.EqualFold(name, "PATH")):
		return "", &EnvError{Name: name, Reason: row.why, Hint: "leave it out", Always: true}
	case row.class == envAlways:
		return "", &EnvError{
			Name: name, Reason: row.why, Always: true,
			Hint: "call the program by its absolute path, or ask the operator to set tools.exec.pathPrepend",
		}
	case judged:
		return "", &EnvError{Name: name, Reason: row.why, Hint: judgedHint}
	}
	return value, nil
}

const judgedHint = "leave it out of env; if it is needed, write it into the command so that it is judged and shown with it"

// Scrub returns environ (entries "NAME=value") without the names of the X-10 table, for
// the run of a judged command (P-60); the order is kept and environ is not changed. What
// stays although it is in the table: PATH and openclaw's own variables, which we set,
// and the operator's values of names that say where things are (HOME, XDG_*, ...).
// Pagers that are "cat" or empty stay, empty. An entry whose name is not an identifier
// goes: that is how shells export functions.
func Scrub(environ []string) []string {
	out := make([]string, 0, len(environ))
	for _, entry := range environ {
		name, value, ok := strings.Cut(entry, "=")
		if !ok || !validEnvName(name) {
			continue
		}
		row := findEnvRow(name, false)
		switch {
		case row == nil && strings.HasPrefix(value, "()"):
		case row == nil, row.class == envCaller, row.class == envInternal, name == "PATH":
			out = append(out, entry)
		case row.class == envJudged && quietPager(name, value, false):
			out = append(out, name+"=")
		}
	}
	return out
}

// findEnvRow returns the row that has the name, or nil.
func findEnvRow(name string, fold bool) *envRow {
	for i := range envTable {
		if envTable[i].has(name, fold) {
			return &envTable[i]
		}
	}
	return nil
}

func (r *envRow) has(name string, fold bool) bool {
	if hasWord(r.names, name, fold) {
		return true
	}
	for _, suffix := range r.suffixes {
		if cut := len(name) - len(suffix); cut >= 0 && sameName(name[cut:], suffix, fold) {
			return true
		}
	}
	for _, prefix := range r.prefixes {
		if len(name) >= len(prefix) && sameName(name[:len(prefix)], prefix, fold) {
			return !hasWord(r.except, name, fold)
		}
	}
	return false
}

// hasWord looks for name in words, a list separated by blanks; a word that ends in *
// stands for all names that begin with it. It allocates nothing: every request with env
// comes through here once a row.
func hasWord(words, name string, fold bool) bool {
	for words != "" {
		word := words
		if i := strings.IndexByte(words, ' '); i >= 0 {
			word, words = words[:i], words[i+1:]
		} else {
			words = ""
		}
		if prefix, ok := strings.CutSuffix(word, "*"); ok && len(name) > len(prefix) {
			if sameName(name[:len(prefix)], prefix, fold) {
				return true
			}
			continue
		}
		if word != "" && sameName(name, word, fold) {
			return true
		}
	}
	return false
}

func sameName(a, b string, fold bool) bool {
	return a == b || fold && len(a) == len(b) && strings.EqualFold(a, b)
}

// quietPager says if the variable names a pager and its value means "none".
func quietPager(name, value string, fold bool) bool {
	const suffix = "PAGER"
	cut := len(name) - len(suffix)
	return cut >= 0 && sameName(name[cut:], suffix, fold) && (value == "" || value == "cat")
}

// validEnvName says if name is an identifier as shells know it. ASCII only: another
// alphabet could look like a name that it is not.
func validEnvName(name string) bool {
	if name == "" {
		return false
	}
	for i := 0; i < len(name); i++ {
		c := name[i]
		switch {
		case c == '_', 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z':
		case '0' <= c && c <= '9' && i > 0:
		default:
			return false
		}
	}
	return true
}
