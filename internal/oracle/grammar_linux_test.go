package oracle

import (
	"math/rand/v2"
	"strings"
)

// grammar makes commands. What it makes is allowed about every second time; the rest is
// near to what is allowed.
type grammar struct{ r *rand.Rand }

func (g grammar) pick(list ...string) string { return list[g.r.IntN(len(list))] }
func (g grammar) chance(percent int) bool    { return g.r.IntN(100) < percent }

// command is a whole text.
func (g grammar) command() string {
	s := g.list(3)
	if g.chance(5) {
		s += g.pick("\n", " # comment", ";", " &", "\n# c\n", " \\\n")
	}
	return s
}

func (g grammar) list(depth int) string {
	s := g.pipeline(depth)
	for g.chance(30) {
		s += g.pick(" && ", " || ", "; ", "\n", ";", "&&") + g.pipeline(depth)
	}
	return s
}

func (g grammar) pipeline(depth int) string {
	s := ""
	if g.chance(4) {
		s = g.pick("! ", "time ", "time -p ")
	}
	s += g.part(depth)
	for g.chance(20) {
		s += g.pick(" | ", "|", " |& ", " |\n") + g.filter(depth)
	}
	return s
}

// filter is often a safe bin, as it is in life.
func (g grammar) filter(depth int) string {
	if g.chance(60) {
		return g.safeBin()
	}
	return g.part(depth)
}

func (g grammar) part(depth int) string {
	if depth > 0 {
		switch n := g.r.IntN(100); {
		case n < 4:
			return "(" + g.list(depth-1) + ")"
		case n < 7:
			return "{ " + g.list(depth-1) + "; }"
		case n < 10:
			return "if " + g.list(depth-1) + "; then " + g.list(depth-1) + g.pick("", "; else "+g.list(depth-1)) + "; fi"
		case n < 13:
			return "for " + g.pick("i", "f", "file", "x_1", "i", "PATH", "IFS", "http_proxy") + " in " + g.args(2) + "; do " + g.list(depth-1) + "; done"
		case n < 15:
			return g.pick("while false", "until true", "until :", "while ! true", "while git; false", "until ls && true", "while true", "while git") + "; do " + g.list(depth-1) + "; done"
		case n < 20:
			return g.pick("sh", "bash", "/bin/sh", "dash", "bash --login", "zsh") + " " + g.pick("-c", "-c", "-lc", "-ic", "-ec", "-c --") + " " + g.quoted(g.list(depth-1)) + g.pick("", "", " a0", " a0 id")
		case n < 22:
			return g.pick("$(", "`", "<(", "eval ", "exec ", "command ", "builtin ", ". ", "source ") + g.simple() + g.pick(")", "`", "", "")
		}
	}
	return g.simple()
}

func (g grammar) simple() string {
	s := ""
	for g.chance(8) {
		s += g.pick("TERM=dumb ", "LANG=C ", "LC_ALL=C ", "NO_COLOR=1 ", "PATH=. ", "LD_PRELOAD=./x.so ", "A=b ", "LANG=$(id) ", "IFS=x ", "BASH_ENV=x.sh ")
	}
	for g.chance(12) {
		s += g.wrapper()
	}
	switch n := g.r.IntN(100); {
	case n < 8:
		s += g.cd()
	case n < 16:
		s += g.safeBin()
	default:
		s += g.program()
		if n := g.r.IntN(4); n > 0 {
			s += " " + g.args(n)
		}
	}
	for g.chance(10) {
		s += g.pick(" 2>&1", " >/dev/null", " 2>/dev/null", " </dev/null", " 1>&2", " > a.txt", " <b.txt", " 2>&-", " &>/dev/null", " <<<x", " 3>&1", " >/dev/null/../x", " >/dev/nul")
	}
	return s
}

func (g grammar) program() string {
	if g.chance(70) {
		return g.spell(g.pick("git", "ls", "echo", "cat", "printf", "test -n", "[ x ]; git", "rg", "make", "./tool", "tool", "./say", "./link/../tool", ".//tool", "../bin/git", "../work/say"))
	}
	return g.spell(g.pick("id", "evil", "touch", "curl", "./git", "./ls", "sub/id", "../bin/id", "/usr/bin/id", "../bin/git", "link/tool", "/bin/echo", "env", "xargs id", "find . -name a.txt",
		"find . -exec id", "busybox sh", "sudo git", "./x.sh", "$X", "${X}", "~/bin/id", "g?t", "*", "{git,id}", "git{,}", "i\\d", "python3 -c", "perl -e", "awk", "sed -n e", "sh", "bash -s", "git -c alias.x='!id'", "env", "xargs", "watch", "ssh", "make -f x.sh", "rg --pre ./x.sh", "G", "ｇit", "gіt", "git\u00a0", "./work/tool", "\"id\"", "'git'", "$'git'", "$'\\x69d'"))
}

// spell writes a name in one of the ways in which a shell reads the same.
func (g grammar) spell(name string) string {
	if g.chance(85) || len(name) < 2 || strings.ContainsAny(name, " $'\"{*?\\") {
		return name
	}
	at := 1 + g.r.IntN(len(name)-1)
	return g.pick(name[:at]+`""`+name[at:], name[:at]+"''"+name[at:], name[:at]+`\`+name[at:], `"`+name+`"`, "'"+name+"'", name[:at]+"\\\n"+name[at:], "$'"+name+"'", name[:at]+"'"+name[at:]+"'")
}

func (g grammar) args(n int) string {
	list := make([]string, 0, n)
	for range n {
		list = append(list, g.arg())
	}
	return strings.Join(list, " ")
}

func (g grammar) arg() string {
	switch n := g.r.IntN(100); {
	case n < 55:
		return g.pick("status", "-la", "a.txt", "b", "--", "-", "x=y", "--long=1", "-n", "5", "sub", "HEAD~1", "a:b", "@{u}", "%s", "é", "日本", "100%", "a,b", "+x", "^a", "a]", "log", "--oneline", "-n5", "src/main.go", "../x", "/tmp", "-", "a=b=c", "q?r", "%1", "a#b", "\U0001F600", "e\u0301", "{}", "}", "{", "a{b", "in", "do", "then", "!", "!x", "#no", "-C")
	case n < 75:
		return g.pick("'a b'", `"a b"`, `a\ b`, `"a'b"`, `'a"b'`, `"\$x"`, `'$x'`, `"a\"b"`, "$'a\\tb'", `''`, `""`, `\;`, `';id'`, `"&& id"`, `'$(id)'`, `"|"`, `\$\(id\)`, "'a\nb'", "a\\\nb", "\"a\\\nb\"", `a"b"'c'\d`, `$'\x41\101\u00e9'`, `$'it\'s'`, `"\\"`, `\\`, `'\'`, `"\a"`, `$'a\nb'`, `"\`+"`"+`id\`+"`"+`"`, `'a'\''b'`, `$'\e[0m'`, `\é`, `\~`, `"~"`, `'*'`, `"{a,b}"`, `\{a,b}`)
	case n < 90:
		return g.pick("$HOME", `"$HOME"`, "${HOME}", "$?", "*", "*.txt", "?", "[ab].txt", "~", "~/x", "{a,b}", "{1..3}", "$UNSET", `"$UNSET"`, "a$HOME", "-*", "$SP", `"$SP"`, "$STAR", `"$STAR"`, "$EMPTY", `"$EMPTY"`, "x${SP}y", "sub/*", "*/", "link/*", "nothing*", "[!a].txt", "{a,b}{1,2}", "{3..1}", "{a..c}", "a{,b}", "${HOME}/x", "--x=~/y", "$X$X", "[[:alpha:]]*", "sub/{c,d}.txt", "~/*", "\"$HOME\"/*")
	}
	return g.pick("$(id)", "`id`", `"$(id)"`, "${X:-$(id)}", "$((1+1))", "$[1]", "<(id)", "${X//a/b}", "${!X}", "${X[0]}", "$*", "$@", "$1", "$$", "!!", "$'\\c", "~id", "a=~", "${X@P}", "\"${X:=`id`}\"")
}

// wrapper is one of P-34's with options: those that are known to be harmless, and others.
func (g grammar) wrapper() string {
	if g.chance(60) {
		return g.pick("env ", "env LANG=C ", "env -u X ", "env --unset X ", "env -uX TERM=dumb ", "env LC_ALL=C NO_COLOR=1 ", "env -- ", "nice ", "nice -n 5 ", "nice -n5 ", "nice -5 ", "nice --adjustment=1 ", "nice --adjustment 1 ", "nohup ", "nohup -- ",
			"stdbuf -oL ", "stdbuf -o L ", "stdbuf -i0 -e0 -oL ", "stdbuf --output=L ", "timeout 5 ", "timeout -k 1 5s ", "timeout -k1 -sTERM 5 ", "timeout -s KILL 5 ", "timeout --foreground 5 ", "timeout --preserve-status 1m ", "timeout -v 5.5 ",
			"setsid -w ", "setsid --wait ", "time ", "/usr/bin/time ", "/usr/bin/time -p ", "/usr/bin/time -v ", "\\time -q ", "/usr/bin/env ", "/usr/bin/nice ", "/bin/nice ", "ionice -c 3 ", "ionice -c2 -n7 ", "ionice -t -c3 ", "ionice --class 3 ",
			"taskset 1 ", "taskset 0x1 ", "taskset -c 0 ", "taskset --cpu-list 0 ", "chrt -i 0 ", "chrt -b 0 ", "chrt --other 0 ", "nice nice ", "env nice -n 1 ", "nice env timeout 5 ", "n\"\"ice ", "'nice' ", "ni\\ce -n '5' ", "nice \\\n")
	}
	return g.pick("env -i ", "env - ", "env A=b ", "env -S 'id' ", "env -S id ", "env -C / ", "env --chdir=sub ", "env PATH=. ", "env -u PATH ", "env --split-string=id ", "env LANG=$(id) ", "env --argv0=x ", "env -v ", "env LD_PRELOAD=./x.so ", "nice -n $X ", "nice -n ",
		"stdbuf ", "stdbuf -o/ ", "timeout ", "timeout 5x ", "timeout --signal ", "timeout $X ", "setsid ", "setsid -f ", "setsid -c ", "command time -o x ", "/usr/bin/time -o x ", "/usr/bin/time -f %U ", "/usr/bin/time --output=x ", "/usr/bin/time -ao x ",
		"ionice -p 1 ", "ionice -P 1 ", "ionice -u 0 ", "taskset -p 1 ", "taskset -a 1 ", "chrt -p 1 ", "chrt -m ", "chrt -i ", "nohup $X ", "../bin/nice ", "./nice ", "nice -- -n ", "xargs ", "sudo ", "flock b ", "setarch ", "busybox ", "doas ", "unshare ")
}

func (g grammar) cd() string {
	return g.pick("cd sub", "cd sub/deep", "cd ..", "cd .", "cd /", "cd", "cd -", "cd $HOME", "cd 'd 1'", "cd link", "cd link/..", "cd -P link", "cd nothing", "cd sub && ./id", "cd sub && ./tool", "pwd", "true", "false", ":", "command -v git", "command -v id", "command -V id", "command -p id")
}

func (g grammar) safeBin() string {
	return g.pick("head", "head -5", "head -n 5", "head -n5", "tail -n +3", "tail -1", "wc -l", "wc", "sort", "sort -rn", "uniq -c", "uniq", "cut -d: -f1", "cut -c1-3", "tr a b", "tr -d x", "grep -e a", "grep -c -e x",
		"head a.txt", "tail -f", "wc -l a.txt", "sort -o x", "sort -ox", "sort --output=x", "sort --compress-program=./x.sh", "grep a", "grep -f x", "grep -r -e a", "grep -e $X", "head *", "wc --files0-from=list0", "uniq a b",
		"tail --retr", "sort -k1,1 -t:", "head --lines=3", "sort -T .", "cut -f1 a.txt", "tr $X b", "grep -ie a", "head -", "sort --", "/usr/bin/head -1", "./head", "h'e'ad -1")
}

// quoted puts a text into quotes.
func (g grammar) quoted(s string) string {
	if g.chance(75) {
		return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
	}
	return `"` + s + `"`
}
