package policy_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"openclaw/internal/host"
	"openclaw/internal/policy"
)

// wideInput allows every program by a lone *, so that only the reading of the command
// stands between it and the machine.
func wideInput(t *testing.T, command string) policy.Input {
	t.Helper()
	dir := caseDir(t)
	for _, d := range []string{"sub", "other"} {
		if err := os.Mkdir(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range []string{"tool", "sub/tool", "git"} {
		if err := os.WriteFile(filepath.Join(dir, f), []byte("#!/bin/sh\nid\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return policy.Input{
		Command: command, Dir: dir, Path: "/usr/local/bin:/usr/bin:/bin", Machine: host.NewMachine(nil), Agent: "main",
		Layers: policy.Layers{Security: policy.Allowlist, SecuritySource: "test"},
		Rules: policy.Rules{
			Allowlist: policy.Compile([]policy.Entry{{Pattern: "*"}}, dir), AllowStreamRedirects: true,
			SafeBins: policy.CompileSafeBins(nil, nil, nil),
		},
	}
}

// Whatever is on the list, these are a miss: each line is one command; \n, \r and the like
// stand for themselves.
const alwaysMiss = `
echo $(id)
echo "$(id)"
echo ${x:-$(id)}
echo ${x@P}
echo ${!x}
echo ${x[$(id)]}
echo ${#x}
echo ${x:1}
echo ${x/a/b}
echo $((1+1))
echo $[1+1]
echo $@
echo $*
echo $1
echo $$
echo $!
echo $_
echo $-
echo $RANDOM
echo $IFS
echo <(id)
echo >(id)
echo x > /dev/tcp/127.0.0.1/9
echo x > file
echo x >> /dev/null
echo x &> /dev/null
echo x 3>&1
echo x {fd}>/dev/null
echo x >&3
cat < file
cat <<< x
cat <<E\nx\nE
echo x &
echo x & echo y
x=1
x=1 echo x
PATH=. git
IFS=x echo
TERM=/tmp/x ls
LC_ALL=$(id) ls
LANG=() ls
a[0]=1 ls
x+=1 ls
TERM+=x ls
TERM=~ ls
f() { id; }
function f { id; }
f() { id; }; ls
alias ls=id
eval id
. ./tool
source ./tool
exec id
exec
trap id EXIT
set -x
shopt -s extglob
export A=b
declare A=b
typeset A=b
readonly A=b
local A=b
unset A
let a=1
builtin id
command id
command -p ls
command -V ls
command -v
command -v ls cat
enable -n echo
hash -p /usr/bin/id ls
type ls
read x
mapfile x
printf -v x y
printf -vx y
test -v x
test -R x
[ -v x ]
[ a -o b ]
kill %1
umask 0
ulimit -n 1
wait
jobs
fg
history
fc -s
getopts a b
exit
return
break
continue
shift
times
suspend
logout
help
dirs
pushd sub
popd
bind x
compgen -C id
complete -C id ls
caller
disown
'eval' id
\eval id
"." ./tool
ev'al' id
[[ -n x ]]
((1))
case x in x) id;; esac
select x in a; do ls; done
coproc ls
coproc X { ls; }
for ((;;)); do ls; done
for x; do ls; done
for PATH in .; do ls; done
for http_proxy in x; do ls; done
for x in $(id); do ls; done
for x in *; do ls; done
for x in a; do ls $x; done
while read x; do ls; done
if ls; then id $HOME; fi
$x
$x ls
${x}
"$x"
~/tool
{ls,-l}
l[s]
*
?s
''
'' ls
"" ls
!ls
!!
!-1
-ls
/usr/bin
/usr/bin/
/nonexistent/x
./nothing
nosuchcommand
sudo ls
doas ls
su -c ls
pkexec ls
env -S ls
env -S'ls -l'
env --split-string=ls
env -C / ls
env --chdir=/ ls
env PATH=. ls
env A=b ls
env -u
env
env -i
env -i ls
env -u PATH ls
env --unset=PATH ls
env $x
env ls=x
nice
nice -n
nice $x ls
nice -n $x ls
nohup
nohup -x ls
timeout 5
timeout ls
timeout $x ls
timeout -s
timeout 5 $x
timeout 5 -- -x
time -o f ls | time ls
/usr/bin/env -a x ls
setsid -f ls
setsid -c ls
stdbuf -o
stdbuf -oL
ionice -p 1
ionice -P 1
taskset -p 1
taskset -pc 0 1
chrt -p 1
chrt ls
xargs ls
xargs
find . -exec id ;
find . -exec id \;
find . -execdir id {} +
find . -ok id \;
find . -name x -okdir id \;
find *
find $x
find . $x
sh -c 'id $(id)'
sh -c "$x"
sh -c $x
sh -ic ls
sh -xc ls
sh -ec ls
sh -c ls x
sh -c -- ls
sh -c
sh -s
sh
bash
bash -
bash -i
bash --rcfile x -c ls
bash --init-file x -c ls
bash -O extglob -c ls
bash -o posix -c ls
bash -c 'ls' -c 'id'
bash +x -c ls
nice sh -c ls
timeout 5 bash -c 'ls'
env bash -c ls
sh -c 'sh -c "sh -c \"id & \""'
busybox sh -c ls
busybox ls
watch ls
strace ls
gdb x
ssh host ls
flock x ls
script -c id
chroot / ls
unshare ls
nsenter ls
setpriv ls
systemd-run ls
parallel ls
start-stop-daemon x
run-parts x
/lib64/ld-linux-x86-64.so.2 /usr/bin/id
tar -cf x --to-command=id y
tar --checkpoint-action=exec=id -cf x y
tar -I id -cf x y
tar cIf id x y
tar -cf x * 
tar --use-compress-program id x
sort --compress-program=id
sort --compress-prog=id
split --filter=id x
git -c alias.x=!id x
git -c core.pager=id log
git -ccore.pager=id log
git --exec-path=. x
git --config-env=core.pager=X log
git -p log
git $x
git -C $x status
git rebase -x id
git rebase --exec=id
git bisect run id
git submodule foreach id
git difftool -x id
git grep -Oid x
git grep --open-files-in-pager=id x
git clone -u id x y
git fetch --upload-pack=id x
git ls-remote --upload-pack=id x
git push --receive-pack=id x
git archive --remote=x --exec=id
git filter-branch --tree-filter id
git config -e
git clone -c core.sshCommand=id x
sed e
sed '1e id' x
sed 's/x/id/e' x
sed -e p -e '1e id' x
sed -n --expression='1e id' x
sed --expr '1e id' x
sed 's/x/id/ge'
sed $x
sed "s/a/$x/"
sed 's,x,id,e;p'
sed '/x/{e id
}'
sed --posix -ne e
sed 's/[/]/e/' x
awk 'BEGIN{system("id")}'
awk 'BEGIN{"id"|getline}'
awk 'BEGIN{print|"id"}'
awk $x
awk -l x y
awk '@load "x"'
awk -f x 'BEGIN{system("id")}'
make SHELL=id
make --eval=x
make -E x
make -f -
make -f- x
make -sf - x
vim -c '!id'
vim '+!id'
vim -es -S x
ed
less '+!id' x
zip x y -T -TT id
rsync -e id a b
rsync --rsh=id a b
scp -S id a b
man -P id ls
fd -x id
rg --pre id x
wget --use-askpass=id x
curl -K x
go run -exec id x
go test -exec id
go vet -vettool=id x
gcc -wrapper id x
tcpdump -z id
npx x
openclaw config set x
openclaw exec -- id
ls\rid
ls\0id
ls\u200bx
ls\u202ex
ls\u2028x
ls\u0085x
ls\x1b[0m
git\u00a0status
ls #a\\\nid
ls \\
ls '
ls "
ls (
ls )
ls |
ls &&
| ls
&& ls
;
;;
ls ;; id
ls ! | ! ls
ls | time ls
! ! ls
time time ls
ls <
if ls; then
{ ls
ls }; }
ls;id &
( ls & )
{ ls; } > file
( ls ) 3>&1
cd - && ./tool
cd && ./tool
cd $x && ./tool
cd nosuch && ./tool
cd sub || ./tool
cd sub || true; ./tool
false && cd sub; ./tool
if true; then cd sub; fi; ./tool
while false; do cd sub; done; ./tool
cd a b && ./tool
cd -P sub && ./tool
pushd sub && ./tool
! cd sub && ./tool
cd sub/../sub && cd - && ./tool
`

func TestP22_AlwaysMiss(t *testing.T) {
	unescape := strings.NewReplacer(`\n`, "\n", `\r`, "\r", `\0`, "\x00", `\u200b`, "\u200b", `\u202e`, "\u202e", `\u2028`, "\u2028",
		`\u0085`, "\u0085", `\x1b`, "\x1b", `\u00a0`, "\u00a0", `\\`, `\`)
	for line := range strings.Lines(alwaysMiss) {
		command := unescape.Replace(strings.TrimSuffix(line, "\n"))
		if command == "" {
			continue
		}
		d := policy.Decide(wideInput(t, command))
		if d.Outcome == policy.OutcomeAllow {
			t.Errorf("%q was allowed", command)
		}
		if d.Outcome == policy.OutcomeDeny && (d.Reason == "" || d.Rule == "" || d.Plan != nil) {
			t.Errorf("%q: refused by %q for %q, plan %v", command, d.Rule, d.Reason, d.Plan != nil)
		}
	}
}

// What people really type is allowed under the same list.
const alwaysAllowed = `
ls
ls -la /usr "a b" 'c d' e\ f
ls | head -5 | wc -l
ls && ls || ls; ls
! ls
time ls
time -p ls | wc
ls 2>/dev/null
ls >/dev/null 2>&1
ls 1>&2
ls </dev/null
echo $HOME ${HOME} "$HOME" $?
echo *.txt a?b [ab] {a,b} {1..3} ~ ~/x
echo 'a $(id)' "a \$(id)" $'a\tb'
echo a=b --x=y --file=~/x
TERM=xterm ls
LC_ALL=C sort
NO_COLOR=1 git status
cd sub && ls
cd sub && ./tool
cd sub; ./tool
(cd sub && ./tool); ./tool
cd sub && cd ../other && ls
{ ls; ls; } 2>/dev/null
( ls; git status )
if ls; then git status; else ls; fi
if ls; then git status; elif ls x; then ls; fi
while ls; do git status; done
until ls; do git status; done
for i in 1 2 3; do git status; done
true && false || :
pwd
command -v git
[ -f x ] && ls
test -n x -a -f y
printf '%s\n' a b
kill 1
sh -c 'git status | head -5'
bash -lc "cd sub && git status"
bash --login -c 'ls'
sh -c 'sh -c "ls -l"'
bash job.sh
nice -n 5 ls
nice -5 ls
nohup ls
timeout 5 ls -l
timeout -k 1 -s KILL 5s ls
timeout --signal=TERM --foreground 1m ls
env ls
env TERM=x LC_ALL=C ls
env -u FOO ls
stdbuf -oL ls
setsid -w ls
nice timeout 5 env ls
git -C sub status
git -c core.quotepath=off -c user.name=x status
git -c core.pager=cat log
git --no-pager log -p
git log --pretty=format:'%h %s' -n 3
git rebase main
git grep foo
find . -name '*.go' -type f
find . -maxdepth 1 -print0
sed -n '1,5p' x
sed 's/one/two/g' x
sed -e 's/a/b/' -e 's,c,d,2' x
sed '/^#/d;s/ *$//' x
sed -i.bak 's/a/b/' x
awk '{print $1}' x
awk -F: '$3 > 5 || $1 == "a" {print $1}' x
tar -czf x.tgz y
tar xzf x.tgz
make -j4
make test V=1
python3 x.py
python3 -c 'print(1)'
grep -rn foo .
sort -u x
vim x
openclaw status
ls # a comment
\ls
'ls'
l"s"
ls \
  -l
`

func TestP21_AlwaysAllowed(t *testing.T) {
	text := strings.ReplaceAll(alwaysAllowed, "\\\n", "\\\x00")
	for line := range strings.Lines(text) {
		command := strings.ReplaceAll(strings.TrimSuffix(line, "\n"), "\\\x00", "\\\n")
		if command == "" {
			continue
		}
		in := wideInput(t, command)
		d := policy.Decide(in)
		if d.Outcome == policy.OutcomeAllow && d.Plan != nil {
			continue
		}
		if strings.HasPrefix(d.Rule, "P-32") { // the program is not on this machine
			continue
		}
		t.Errorf("%q: %s: %s", command, d.Rule, d.Reason)
	}
}
