package policy_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"openclaw/internal/host"
	"openclaw/internal/policy"
)

// programsInput has the programs of P-40's table on PATH, as copies of one that does
// nothing, and every one of them on the list, in a mode that would run anything.
func programsInput(t *testing.T) policy.Input {
	t.Helper()
	noop, err := os.ReadFile("/usr/bin/true")
	if err != nil {
		t.Skip("needs /usr/bin/true")
	}
	dir := caseDir(t)
	for name := range strings.FieldsSeq("python python3 python3.12 pypy3 node nodejs ruby ruby3.1 perl perl5.36 php php8.2 lua lua5.4 osascript bun deno R Rscript julia guile guile-3.0 " +
		"tclsh tclsh8.6 awk gawk mawk sed find xargs make git vim nvim tar psql fish pwsh csh ts-node emacs") {
		if err := os.WriteFile(filepath.Join(dir, name), noop, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(dir, "python3.12"), filepath.Join(dir, "mytool")); err != nil {
		t.Fatal(err)
	}
	return policy.Input{
		Dir: dir, Path: dir + ":/usr/bin:/bin", Machine: host.NewMachine(nil), Agent: "main",
		Layers: policy.Layers{Security: policy.Full, SecuritySource: "test", StrictInlineEval: true},
	}
}

const inlineCode = `
python -c x
python3 -cx
python3 -Ic x
python3 -W ignore -c x
python3.12 -c x
pypy3 -c x
mytool -c x
./mytool -c x
python3
python3 -
python3 -i
python3 -m timeit x
python3 -mtimeit x
python3 -m code
echo x | python3
echo x | python3 -
python3 <<E\nx\nE
python3 <<< x
python3 $x
python3 x.py $x
python3 *.py
python3 --unknown y -c x
node -e x
node -pe x
node -p x
node --eval x
node --eval=x
node --ev=x
node --print x
node --import data:text/javascript,x y.js
node -r y -e x
node --require y -e x
node
node -i
ruby -e x
ruby3.1 -ne x
perl -e x
perl -E x
perl -le x
perl -ne x
perl -Mx -e y
perl5.36 -pie x
php -r x
php8.2 -r x
php -B x
lua -e x
lua5.4 -lx -e y
osascript -e x
bun -e x
bun --eval x
deno eval x
R -e x
Rscript -e x
julia -e x
julia --eval=x
guile -c x
guile-3.0 -c x
tclsh
tclsh8.6
echo x | tclsh
awk x
gawk --source x
gawk -e x
mawk x y
awk -F: x y
sed e
sed 's/a/b/w f'
sed -n 'w f' x
sed 's/a/b/e'
sed -i -e '1e id' x
find . -exec id \;
find . -execdir id \;
find . -ok id \;
xargs ls
xargs
echo x | xargs ls
make --eval x
make --eval=x
make -E x
make -f -
git -c alias.x=!id x
git -c core.pager=less log
vim -c x
nvim --cmd x
vim +x
tar --checkpoint-action=exec=x
tar --to-command=x
tar -I x -cf y z
env python3 -c x
nice -n 5 python3 -c x
timeout 5 env python3 -c x
sh -c 'python3 -c x'
bash -lc "nice node -e 1"
ls && python3 -c x
(python3 -c x)
if ls; then python3 -c x; fi
for i in 1; do python3 -c x; done
f() { python3 -c x; }; f
echo $(python3 -c x)
echo "$(python3 -c x)"
ls > >(python3 -c x)
cat <<E\n$(python3 -c x)\nE
case x in x) python3 -c x;; esac
coproc python3 -c x
x=$(python3 -c x)
[[ -n $(python3 -c x) ]]
while :; do python3 -c x; done > f
$x -c y
"$x"
eval x
trap x EXIT
alias x=y
echo x | sh
sh
bash -s
bash -ic x
sh -c "$x"
bash -c x y
fish -c x
pwsh -c x
csh -c x
ts-node -e x
emacs --eval x
PYTHONSTARTUP=x python3 x.py
NODE_OPTIONS=--import=x node x.js
BASH_ENV=x bash x.sh
ls '
`

func TestP40_Inline(t *testing.T) {
	in := programsInput(t)
	for line := range strings.Lines(inlineCode) {
		in.Command = strings.ReplaceAll(strings.TrimSuffix(line, "\n"), `\n`, "\n")
		if in.Command == "" {
			continue
		}
		d := policy.Decide(in)
		if d.Outcome != policy.OutcomeAsk || d.Rule != "P-40" {
			t.Errorf("%q: %s by %s", in.Command, d.Outcome, d.Rule)
		}
		d.Effective.AskFallback.Value = policy.Full
		if d = policy.Unanswered(d); d.Outcome != policy.OutcomeDeny {
			t.Errorf("%q: a fallback answered for a person", in.Command)
		}
	}
}

const noInlineCode = `
python3 x.py
python3 x.py -c y
python3 -u -W ignore x.py -e
python3 -m http.server 8000
python3 -m pytest -c x
python3 --version
python3 -V
node x.js -e y
node --version
node -r y x.js
ruby x.rb
perl x.pl -e
perl -w x.pl
php x.php
lua x.lua
Rscript x.R -e
julia x.jl
tclsh x.tcl
awk -f x.awk y
sed -n '1,5p' x
sed 's/one/two/g' x
find . -name x
make -j4 test
make -f Makefile x
git -c core.quotepath=off log
git log
vim x
tar -czf x y
bash x.sh -c
sh -c 'ls'
ls $(git log)
for i in *; do ls $i; done
echo python3 -c x
ls "python -c x"
mytool x.py
`

func TestP40_NotInline(t *testing.T) {
	in := programsInput(t)
	for line := range strings.Lines(noInlineCode) {
		if in.Command = strings.TrimSuffix(line, "\n"); in.Command == "" {
			continue
		}
		if d := policy.Decide(in); d.Outcome != policy.OutcomeAllow {
			t.Errorf("%q: %s by %s: %s", in.Command, d.Outcome, d.Rule, d.Reason)
		}
	}
}

// TestP40_TextByEntry: an entry that binds a shell's whole text, or a shell of one's own,
// does not hide code in that text.
func TestP40_TextByEntry(t *testing.T) {
	in := programsInput(t)
	in.Layers.Security = policy.Allowlist
	bash, err := os.ReadFile("/bin/sh")
	if err != nil {
		t.Skip("needs /bin/sh")
	}
	if err := os.WriteFile(filepath.Join(in.Dir, "sh"), bash, 0o755); err != nil {
		t.Fatal(err)
	}
	in.Rules.Allowlist = policy.Compile([]policy.Entry{{Pattern: "*"}, {Pattern: "/usr/bin/bash", ArgPattern: ".*"}, {Pattern: in.Dir + "/sh", ArgPattern: ".*"}}, "")
	for command, want := range map[string]policy.Outcome{
		"/usr/bin/bash -c 'python3 -c x'": policy.OutcomeAsk, "/usr/bin/bash -c 'python3 x.py'": policy.OutcomeAllow,
		"./sh -c 'python3 -c x'": policy.OutcomeAsk, "./sh -c 'python3 x.py'": policy.OutcomeAllow, "./sh -c 'f() { python3 -c x; }; f'": policy.OutcomeAsk,
	} {
		in.Command = command
		if d := policy.Decide(in); d.Outcome != want {
			t.Errorf("%q: %s by %s: %s", command, d.Outcome, d.Rule, d.Reason)
		}
	}
}
