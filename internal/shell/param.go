package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// bashSets are variables that bash itself keeps or treats in a way of its own, so that the
// environment does not say what $NAME is (P-24).
const bashSets = " BASH BASHOPTS BASHPID BASH_ALIASES BASH_ARGC BASH_ARGV BASH_ARGV0 BASH_CMDS BASH_COMMAND BASH_ENV " +
	"BASH_EXECUTION_STRING BASH_LINENO BASH_LOADABLES_PATH BASH_MONOSECONDS BASH_REMATCH BASH_SOURCE BASH_SUBSHELL BASH_TRAPSIG BASH_VERSINFO " +
	"BASH_VERSION BASH_COMPAT BASH_XTRACEFD COLUMNS COMP_CWORD COMP_KEY COMP_LINE COMP_POINT COMP_TYPE COMP_WORDBREAKS COMP_WORDS " +
	"COMPREPLY COPROC DIRSTACK EPOCHREALTIME EPOCHSECONDS EUID FUNCNAME FUNCNEST GLOBIGNORE GLOBSORT GROUPS HISTCMD HOSTNAME HOSTTYPE IFS LINENO " +
	"LINES MACHTYPE MAPFILE OLDPWD OPTARG OPTERR OPTIND OSTYPE PIPESTATUS POSIXLY_CORRECT PPID PS0 PS1 PS2 PS3 PS4 RANDOM READLINE_ARGUMENT " +
	"READLINE_LINE READLINE_MARK READLINE_POINT REPLY SECONDS SHELLOPTS SHLVL SRANDOM TIMEFORMAT UID _ "

// param reads $NAME, ${NAME} and $?; everything else a parameter can do is not understood
// (P-24).
func (b *builder) param(p *syntax.ParamExp, kind PartKind) bool {
	switch {
	case p.Excl || p.Names != 0:
		return b.remark(p, "indirect expansion", "reads a variable whose name is computed", "P-22")
	case p.Param == nil, p.Flags != nil, p.NestedParam != nil, p.Length, p.Width, p.IsSet, len(p.Modifiers) > 0,
		p.Split != 0, p.GlobSubst != 0, p.RcExpand != 0:
		return b.remark(p, "parameter expansion", "does more than to put in a variable", "P-22")
	case p.Index != nil:
		return b.remark(p, "array index", "is arithmetic, which may run commands", "P-22")
	case p.Slice != nil || p.Repl != nil || p.Exp != nil:
		return b.remark(p, "parameter expansion", "changes the value or has a default; only $NAME and ${NAME} are understood", "P-22")
	}
	name := p.Param.Value
	if name != "?" && !validName(name) {
		return b.remark(p, "special parameter", "$"+name+" is kept by the shell; only $NAME, ${NAME} and $? are understood", "P-24")
	}
	if strings.Contains(bashSets, " "+name+" ") {
		return b.remark(p, "special parameter", "$"+name+" is kept by bash itself", "P-24")
	}
	b.name(kind, name)
	return true
}

// describe names a part of a word that is not understood, and why it is not.
func describe(part syntax.Node) (what, why string) {
	switch p := part.(type) {
	case *syntax.CmdSubst:
		return "command substitution", "runs another command to make this word"
	case *syntax.ProcSubst:
		return "process substitution", "runs another command beside this one"
	case *syntax.ArithmExp:
		return "arithmetic expansion", "is computed when the command runs"
	case *syntax.ExtGlob:
		return "extended pattern", "bash reads it only with an option set"
	case *syntax.ParamExp:
		return "parameter expansion", "is not known before the command runs"
	case *syntax.BraceExp:
		return "brace expansion", "was not resolved"
	case *syntax.DblQuoted, *syntax.SglQuoted, *syntax.Lit:
		return "word", "is not understood here"
	default:
		_ = p
		return "construct", "is not understood"
	}
}
