package shell

// carrierRow names programs that start another one named in their arguments (P-37), or the
// options that make them do so.
type carrierRow struct {
	names   string
	class   carrierClass
	why     string
	short   string // letters of options, also within a bundle
	long    string // long options; abbreviations count
	words   string // whole words
	starts  string // what such a word begins with
	bundled bool   // the first argument may be a bundle without a dash
	code    bool   // counts for P-40
	check   func(words []Word) (why string, at int)
}

type carrierClass uint8

const (
	carrierOptions carrierClass = iota // with the options only
	carrierAlways                      // in any form
	carrierNever                       // in any form, whatever the entries say
)

const alwaysCarries = "it starts another program that its arguments name"

// loaderPrefixes begin the names of dynamic loaders, which start what they are given.
var loaderPrefixes = []string{"ld-linux", "ld-musl", "ld64", "ld-2"}

var carrierTable = []carrierRow{
	{names: " sudo doas su pkexec run0 sudoedit ", class: carrierNever, why: "it runs a command as another user"},
	{
		names: " runuser chroot unshare nsenter setpriv prlimit setarch linux32 linux64 i386 x86_64 uname26 flock parallel watch script strace ltrace " +
			"gdb lldb ssh slogin autossh mosh sshpass systemd-run run-parts start-stop-daemon busybox toybox coreutils box gosu su-exec setuidgid envuidgid envdir chpst softlimit s6-setuidgid " +
			"capsh newgrp sg machinectl fakeroot fakechroot faketime eatmydata proot bwrap firejail cgexec numactl choom uclampset coresched " +
			"perf valgrind rr rlwrap screen tmux dtach abduco nohup.sh dbus-run-session dbus-launch xvfb-run xinit startx unbuffer chronic ifne pee sem entr " +
			"hyperfine at batch crontab socat tini dumb-init catchsegv ld.so pw-jack env-update chrootuid sandbox-exec caffeinate arch open xdg-open " +
			"logrotate dpkg-reconfigure update-alternatives rpm2cpio kubectl-exec setlock tsocks torsocks proxychains proxychains4 cpulimit trickle " +
			"npx bunx pnpx uvx pipx nix-shell nix-run direnv mise asdf scriptreplay byobu ",
		class: carrierAlways, why: alwaysCarries,
	},
	{names: " npm pnpm yarn bun ", words: " exec dlx ", check: packageX, why: "it starts the program of a package"},
	{names: " bundle rbenv pyenv nodenv jenv goenv plenv asdf-vm ", words: " exec ", why: alwaysCarries},
	{names: " uv poetry pipenv pdm hatch rye conda mamba micromamba pixi ", words: " run ", why: alwaysCarries},
	{names: " xargs ", class: carrierAlways, why: alwaysCarries, code: true},
	{names: " ed red ", class: carrierAlways, why: "it runs shell commands that it reads"},
	{names: " find gfind bfs ", words: " -exec -execdir -ok -okdir ", why: "find starts another program", code: true},
	{
		names: " tar gtar bsdtar ", short: "IF", bundled: true, code: true, why: "tar starts another program",
		long: " --checkpoint-action --to-command --use-compress-program --info-script --new-volume-script --rsh-command --rmt-command ",
	},
	{names: " sort gsort ", long: " --compress-program ", why: "sort starts another program"},
	{names: " split gsplit csplit ", long: " --filter ", why: "split starts another program"},
	{names: " zip ", words: " -TT ", long: " --unzip-command ", short: "T", why: "zip starts another program"},
	{names: " rsync ", short: "e", long: " --rsh --rsync-path ", why: "rsync starts another program"},
	{names: " scp sftp ", short: "SoFD", why: "it starts another program"},
	{names: " nc ncat netcat ", short: "ec", long: " --exec --sh-exec --lua-exec ", why: "it starts another program"},
	{names: " wget ", long: " --use-askpass --execute ", short: "e", why: "wget starts another program"},
	{names: " curl ", short: "K", long: " --config ", why: "curl reads options from a file"},
	{names: " tcpdump ", short: "z", why: "tcpdump starts another program"},
	{names: " man mandb apropos ", short: "PH", long: " --pager --html --preprocessor ", why: "man starts another program"},
	{names: " fd fdfind ", short: "xX", long: " --exec --exec-batch ", why: "fd starts another program", code: true},
	{names: " rg ripgrep ", long: " --pre --hostname-bin ", why: "rg starts another program"},
	{names: " ag ack bat batcat delta ", long: " --pager --map-syntax ", why: "it starts another program"},
	{names: " fzf sk ", long: " --preview --bind --execute ", why: "it starts another program"},
	{names: " go ", words: " -exec -toolexec -vettool --exec --toolexec --vettool generate tool ", why: "go starts another program"},
	{names: " gcc g++ cc c++ clang clang++ cpp gfortran ", words: " -wrapper -specs -fplugin -load -fuse-ld ", starts: " -B @ ", why: "it starts or loads another program"},
	{names: " cargo ", long: " --config ", why: "cargo's settings name programs"},
	{names: " apt apt-get aptitude ", short: "oc", long: " --option --config-file ", why: "apt's settings name programs"},
	{names: " dpkg rpm ", long: " --pre-invoke --post-invoke --pipe --define --eval --load ", words: " -E -D ", why: "it starts another program"},
	{names: " less more most pg ", short: "kt", words: " -k ", long: " --lesskey-file --lesskey-src --lesskey-content ", why: "it reads commands from a file", check: checkLess},
	{
		names: " vi vim nvim gvim view rvim vimdiff ex vim.basic vim.tiny vim.gtk3 ", short: "cSsuUiW", long: " --cmd --remote-expr --remote-send ",
		why: "an editor's commands start other programs", code: true, check: checkPlus,
	},
	{names: " emacs emacsclient ", short: "lfe", long: " --eval --execute --load --funcall --script --insert ", words: " -eval -batch -l -f ", why: "an editor's commands start other programs", code: true},
	{names: " make gmake gnumake remake bmake ", short: "E", long: " --eval ", why: "make runs what the option says", code: true, check: checkMake},
	{names: " git ", why: "git starts another program", code: true, check: checkGit},
	{names: " sed gsed ", why: "a sed program runs commands", code: true, check: checkSed},
	{names: " awk gawk mawk nawk original-awk bwk ", words: " -l -i -E ", long: " --load --include --exec ", why: "awk loads code", check: checkAwk},
}

// Options in front of git's command that start nothing: by themselves, without and with a
// value. --help is none of them: it starts a viewer.
const (
	gitInfo    = " --version -v -h --html-path --man-path --info-path " // nothing behind them counts
	gitOptions = " -P --no-pager --no-replace-objects --bare " +
		"--literal-pathspecs --glob-pathspecs --noglob-pathspecs --icase-pathspecs --no-optional-locks --no-lazy-fetch --no-advice "
	gitValueOptions = " -C --git-dir --work-tree --namespace --list-cmds --attr-source "
)

// Settings for git -c that start nothing: whole keys and whole sections.
const (
	gitSettings = " user.name user.email core.quotepath core.autocrlf core.eol core.abbrev core.ignorecase core.filemode core.longpaths core.safecrlf " +
		"init.defaultbranch commit.gpgsign tag.gpgsign log.date log.decorate log.showsignature diff.renames diff.algorithm diff.context diff.colormoved " +
		"merge.conflictstyle pull.rebase pull.ff push.default push.autosetupremote fetch.prune rebase.autostash http.postbuffer http.version " +
		"status.short status.branch status.showuntrackedfiles protocol.version gc.auto safe.directory "
	gitSections = " color column advice "
)

// gitCommands are the commands of git that start what their arguments name.
var gitCommands = []carrierRow{
	{names: " rebase ", short: "x", long: " --exec ", why: "git rebase starts another program"},
	{names: " bisect ", words: " run visualize view ", why: "git bisect starts another program"},
	{names: " submodule ", words: " foreach ", why: "git submodule foreach starts another program"},
	{names: " difftool mergetool ", class: carrierAlways, why: "it starts another program"},
	{names: " grep ", short: "O", long: " --open-files-in-pager ", why: "git grep starts another program"},
	{names: " clone ", short: "uc", why: "git clone may start another program"},
	{names: " ls-remote fetch-pack ", short: "u", why: "it may start another program"},
	{
		names: " fetch pull clone ls-remote push fetch-pack send-pack archive remote ",
		long:  " --upload-pack --receive-pack --exec --remote --config --template ", why: "it may start another program",
	},
	{
		names: " filter-branch filter-repo instaweb send-email web--browse cvsserver shell daemon help--browse remote-ext remote-fd for-each-repo hook fast-import credential gui citool gitk " +
			"svn p4 cvsimport archimport imap-send upload-pack receive-pack upload-archive sh-setup sh-i18n ",
		class: carrierAlways, why: "this command of git starts other programs",
	},
	{names: " init init-db ", long: " --template ", why: "git init may copy hooks"},
	{names: " help ", short: "wimg", long: " --web --man --info ", why: "git help starts a viewer"},
	{names: " log show diff ", long: " --ext-diff ", why: "git starts the diff program of its settings"},
	{names: " config ", short: "e", long: " --edit ", words: " edit ", why: "git config starts an editor", check: checkGitConfig},
}
