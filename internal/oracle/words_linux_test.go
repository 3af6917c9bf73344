package oracle

// What the grammar puts commands together from.
var (
	// programsListed are on the list, by different paths.
	programsListed = []string{
		"git", "ls", "echo", "cat", "printf", "test -n", "[ x ]; git", "rg", "make", "./tool", "tool", "./say", "./link/../tool", ".//tool", "../bin/git", "../work/say",
	}
	// programsOther are not, or are not to be started so.
	programsOther = []string{
		"id", "evil", "touch", "curl", "./git", "./ls", "sub/id", "../bin/id", "/usr/bin/id", "../bin/git", "link/tool", "/bin/echo", "env", "xargs id", "find . -name a.txt",
		"find . -exec id", "busybox sh", "sudo git", "./x.sh", "$X", "${X}", "~/bin/id", "g?t", "*", "{git,id}", "git{,}", "i\\d", "python3 -c", "perl -e", "awk", "sed -n e", "sh", "bash -s", "git -c alias.x='!id'", "env", "xargs", "watch", "ssh", "make -f x.sh", "rg --pre ./x.sh", "G", "ｇit", "gіt", "git\u00a0", "./work/tool", "\"id\"", "'git'", "$'git'", "$'\\x69d'",
	}
	// wordsPlain are plain.
	wordsPlain = []string{
		"status", "-la", "a.txt", "b", "--", "-", "x=y", "--long=1", "-n", "5", "sub", "HEAD~1", "a:b", "@{u}", "%s", "é", "日本", "100%", "a,b", "+x", "^a", "a]", "log", "--oneline", "-n5", "src/main.go", "../x", "/tmp", "-", "a=b=c", "q?r", "%1", "a#b", "\U0001F600", "e\u0301", "{}", "}", "{", "a{b", "in", "do", "then", "!", "!x", "#no", "-C",
	}
	// wordsQuoted are quoted or escaped.
	wordsQuoted = []string{
		"'a b'", `"a b"`, `a\ b`, `"a'b"`, `'a"b'`, `"\$x"`, `'$x'`, `"a\"b"`, "$'a\\tb'", `''`, `""`, `\;`, `';id'`, `"&& id"`, `'$(id)'`, `"|"`, `\$\(id\)`, "'a\nb'", "a\\\nb", "\"a\\\nb\"", `a"b"'c'\d`, `$'\x41\101\u00e9'`, `$'it\'s'`, `"\\"`, `\\`, `'\'`, `"\a"`, `$'a\nb'`, `"\` + "`" + `id\` + "`" + `"`, `'a'\''b'`, `$'\e[0m'`, `\é`, `\~`, `"~"`, `'*'`, `"{a,b}"`, `\{a,b}`,
	}
	// wordsExpanded are expanded by the walker.
	wordsExpanded = []string{
		"$HOME", `"$HOME"`, "${HOME}", "$?", "*", "*.txt", "?", "[ab].txt", "~", "~/x", "{a,b}", "{1..3}", "$UNSET", `"$UNSET"`, "a$HOME", "-*", "$SP", `"$SP"`, "$STAR", `"$STAR"`, "$EMPTY", `"$EMPTY"`, "x${SP}y", "sub/*", "*/", "link/*", "nothing*", "[!a].txt", "{a,b}{1,2}", "{3..1}", "{a..c}", "a{,b}", "${HOME}/x", "--x=~/y", "$X$X", "[[:alpha:]]*", "sub/{c,d}.txt", "~/*", "\"$HOME\"/*",
	}
	// wordsRefused are never expanded.
	wordsRefused = []string{
		"$(id)", "`id`", `"$(id)"`, "${X:-$(id)}", "$((1+1))", "$[1]", "<(id)", "${X//a/b}", "${!X}", "${X[0]}", "$*", "$@", "$1", "$$", "!!", "$'\\c", "~id", "a=~", "${X@P}", "\"${X:=`id`}\"",
	}
	// wrappersGood have options that are known to be harmless.
	wrappersGood = []string{
		"env ", "env LANG=C ", "env -u X ", "env --unset X ", "env -uX TERM=dumb ", "env LC_ALL=C NO_COLOR=1 ", "env -- ", "nice ", "nice -n 5 ", "nice -n5 ", "nice -5 ", "nice --adjustment=1 ", "nice --adjustment 1 ", "nohup ", "nohup -- ",
		"stdbuf -oL ", "stdbuf -o L ", "stdbuf -i0 -e0 -oL ", "stdbuf --output=L ", "timeout 5 ", "timeout -k 1 5s ", "timeout -k1 -sTERM 5 ", "timeout -s KILL 5 ", "timeout --foreground 5 ", "timeout --preserve-status 1m ", "timeout -v 5.5 ",
		"setsid -w ", "setsid --wait ", "time ", "/usr/bin/time ", "/usr/bin/time -p ", "/usr/bin/time -v ", "\\time -q ", "/usr/bin/env ", "/usr/bin/nice ", "/bin/nice ", "ionice -c 3 ", "ionice -c2 -n7 ", "ionice -t -c3 ", "ionice --class 3 ",
		"taskset 1 ", "taskset 0x1 ", "taskset -c 0 ", "taskset --cpu-list 0 ", "chrt -i 0 ", "chrt -b 0 ", "chrt --other 0 ", "nice nice ", "env nice -n 1 ", "nice env timeout 5 ", "n\"\"ice ", "'nice' ", "ni\\ce -n '5' ", "nice \\\n",
	}
	// wrappersBad do not, or are none.
	wrappersBad = []string{
		"env -i ", "env - ", "env A=b ", "env -S 'id' ", "env -S id ", "env -C / ", "env --chdir=sub ", "env PATH=. ", "env -u PATH ", "env --split-string=id ", "env LANG=$(id) ", "env --argv0=x ", "env -v ", "env LD_PRELOAD=./x.so ", "nice -n $X ", "nice -n ",
		"stdbuf ", "stdbuf -o/ ", "timeout ", "timeout 5x ", "timeout --signal ", "timeout $X ", "setsid ", "setsid -f ", "setsid -c ", "command time -o x ", "/usr/bin/time -o x ", "/usr/bin/time -f %U ", "/usr/bin/time --output=x ", "/usr/bin/time -ao x ",
		"ionice -p 1 ", "ionice -P 1 ", "ionice -u 0 ", "taskset -p 1 ", "taskset -a 1 ", "chrt -p 1 ", "chrt -m ", "chrt -i ", "nohup $X ", "../bin/nice ", "./nice ", "nice -- -n ", "xargs ", "sudo ", "flock b ", "setarch ", "busybox ", "doas ", "unshare ",
	}
	// builtins start nothing by themselves.
	builtins = []string{
		"cd sub", "cd sub/deep", "cd ..", "cd .", "cd /", "cd", "cd -", "cd $HOME", "cd 'd 1'", "cd link", "cd link/..", "cd -P link", "cd nothing", "cd sub && ./id", "cd sub && ./tool", "pwd", "true", "false", ":", "command -v git", "command -v id", "command -V id", "command -p id",
	}
	// filters are safe bins, with options of both kinds.
	filters = []string{
		"head", "head -5", "head -n 5", "head -n5", "tail -n +3", "tail -1", "wc -l", "wc", "sort", "sort -rn", "uniq -c", "uniq", "cut -d: -f1", "cut -c1-3", "tr a b", "tr -d x", "grep -e a", "grep -c -e x",
		"head a.txt", "tail -f", "wc -l a.txt", "sort -o x", "sort -ox", "sort --output=x", "sort --compress-program=./x.sh", "grep a", "grep -f x", "grep -r -e a", "grep -e $X", "head *", "wc --files0-from=list0", "uniq a b",
		"tail --retr", "sort -k1,1 -t:", "head --lines=3", "sort -T .", "cut -f1 a.txt", "tr $X b", "grep -ie a", "head -", "sort --", "/usr/bin/head -1", "./head", "h'e'ad -1",
	}
)
