package shell

// codeRow says where an interpreter's arguments hold code (P-40). Names may have a version
// behind them. Lists have a blank before and behind each entry.
type codeRow struct {
	names      string
	short      string // letters of options that take code, also within a bundle
	shortValue string // letters of options with another value
	shortKnown string // letters of options without one
	long       string // long options that take code; abbreviations count
	longValue  string // long options with another value
	exact      string // options that take code and are no usual long ones: -eval
	known      string // other options that are known to have no value of their own
	verbs      string // subcommands that take code
	info       string // options that only print something
	operand    codeOperand
	stdin      bool // without a script or code it reads standard input
	plus       bool // + begins an option too

	scriptOption string // options whose value is a script file, with which operands are data
	moduleOption string // option whose value is a module, behind which nothing is an option
	codeModules  string // modules that run code from arguments or standard input
}

type codeOperand uint8

const (
	operandOther  codeOperand = iota // operands are data
	operandScript                    // the first operand is a script file
	operandCode                      // the first operand is code
)

// otherShells are shells whose -c text is not read: they are not bash's kin, or rare.
const otherShells = " csh tcsh yash posh rbash rksh rzsh lksh pdksh osh ysh oil hush sash "

// foreignShells are in the table by other rows; for P-35 they are shells.
const foreignShells = " fish nu xonsh pwsh powershell elvish es rc ion "

const usualInfo = " --version --help -h -V "

var codeTable = []codeRow{
	{
		names: " python pythonw pypy ipython jython micropython ", short: "c", shortValue: "mWXQ", shortKnown: "bBdEhIOPqRsStuvVx",
		longValue: " --check-hash-based-pycs ", info: usualInfo + " -VV ", operand: operandScript, stdin: true,
		moduleOption: "-m", codeModules: " timeit code pdb trace profile cProfile idlelib asyncio this sqlite3 doctest ",
	},
	{
		names: " node nodejs iojs ", short: "ep", shortValue: "rC", shortKnown: "chv",
		long:      " --eval --print --import --loader --experimental-loader --interactive ",
		longValue: " --require --conditions --env-file --title ", known: " --check --no-warnings --enable-source-maps --trace-warnings ",
		info: usualInfo + " -v ", operand: operandScript, stdin: true, exact: " -i -pe ",
	},
	{
		names: " ruby jruby irb mruby ", short: "e", shortValue: "CEIKrTW", shortKnown: "acdhlnpsSUvwxy",
		info: usualInfo + " -v --copyright ", operand: operandScript, stdin: true,
	},
	{
		names: " perl raku perl6 ", short: "eE", shortValue: "IMm", shortKnown: "acdfhlnpsStTuUvVwWX0123456789",
		info: usualInfo + " -v ", operand: operandScript, stdin: true,
	},
	{
		names: " php php-cgi hhvm ", short: "rBRE", shortValue: "cdfFSstz", shortKnown: "aChiHlmnqvw",
		long:      " --run --process-begin --process-code --process-end --interactive ",
		longValue: " --file --define --php-ini --server --docroot --zend-extension ",
		info:      usualInfo + " -v -i -m --info --modules --ini ", operand: operandScript, stdin: true, exact: " -a ",
	},
	{
		names: " lua luajit luau texlua ", short: "e", shortValue: "lj", shortKnown: "iEvWO",
		info: usualInfo + " -v ", operand: operandScript, stdin: true,
	},
	{names: " osascript ", short: "ei", shortValue: "ls", info: usualInfo, operand: operandScript, stdin: true},
	{
		names: " bun ", short: "ep", shortValue: "rcd", long: " --eval --print ", verbs: " exec x repl ",
		info: usualInfo + " -v --revision ", operand: operandScript,
	},
	{names: " deno ", verbs: " eval repl ", info: usualInfo, operand: operandOther},
	{
		names: " R ", short: "e", shortValue: "fgd", longValue: " --file --gui --args --encoding --debugger ",
		known: " --vanilla --slave --no-save --quiet --no-echo ", info: usualInfo, operand: operandOther, stdin: true,
	},
	{names: " Rscript littler r ", short: "e", info: usualInfo, known: " --vanilla --verbose ", operand: operandScript, stdin: true},
	{
		names: " julia ", short: "eE", shortValue: "JCptLHO", shortKnown: "iqhv", long: " --eval --print ",
		longValue: " --project --threads --sysimage --load ", info: usualInfo + " -v ", operand: operandScript, stdin: true,
	},
	{names: " guile ", short: "c", shortValue: "leLCsx", shortKnown: "qhv", info: usualInfo + " -v ", operand: operandScript, stdin: true},
	{names: " tclsh wish expect jimsh ", short: "c", shortValue: "fb", info: usualInfo, operand: operandScript, stdin: true},
	{names: " racket gracket ", short: "eipE", shortValue: "tlfru", long: " --eval --repl ", info: usualInfo, operand: operandScript, stdin: true},
	{
		names: " elixir iex scala groovy clojure clj kotlin swift crystal nim ocaml ghc ghci runghc runhaskell stack sbcl clisp ecl emacs octave gnuplot maxima swipl gprolog " +
			"ts-node tsx babel-node coffee jshell nu xonsh pwsh powershell fish elvish es rc ion scsh gosh csi chibi-scheme chez scheme mit-scheme janet fennel hy erl escript",
		short: "ecEgx", long: " --eval --eval-file --execute --command --commands --init-command --print --batch --run --expression --expr --goal --funcall --load --rpc-eval ",
		exact: " -eval -batch -f -s -c -C -Command -EncodedCommand -ec -enc -run ", verbs: " eval e script exec repl interpret fsi ",
		info: usualInfo, operand: operandScript, stdin: true,
	},
	{
		names: " awk gawk mawk nawk original-awk bwk ", short: "e", shortValue: "Fvf", long: " --source --load --include --exec ", exact: " -l -i -E ",
		longValue: " --file --field-separator --assign ", info: usualInfo + " -W ", operand: operandCode, scriptOption: " -f --file ",
	},
	{names: " vi vim nvim gvim view rvim vimdiff ex vim.basic vim.tiny vim.gtk3 ", short: "cSsuUiW", long: " --cmd --remote-expr --remote-send ", info: usualInfo, plus: true, operand: operandOther},
	{names: " ed red ", info: usualInfo, operand: operandOther, stdin: true},
	{names: " dc ", short: "e", long: " --expression ", info: usualInfo, operand: operandScript, stdin: true},
	{names: " m4 ", shortValue: "DIUBFRtlo", info: usualInfo, operand: operandScript, stdin: true},
	{
		names: " make gmake gnumake remake bmake ", short: "E", shortValue: "CIjlOoW", shortKnown: "bmBdehiknpqrRsStvw", long: " --eval ", exact: " -f- ",
		longValue: " --directory --include-dir --jobs --load-average --old-file --what-if --output-sync ", info: usualInfo,
	},
	{
		names: shells + otherShells, short: "csi", shortValue: "oO", shortKnown: "aefhkmnptuvxBCEHPT", long: " --rcfile --init-file --command ",
		known: " --login --norc --noprofile --posix ", info: " --version --help ", operand: operandScript, stdin: true, plus: true, exact: " -i ",
	},
}
