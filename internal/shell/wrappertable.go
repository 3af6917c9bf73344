package shell

// wrapperRow says how one wrapper is looked through (P-34). The options are those known to
// write no file, signal no other process and name no other user; any other is a miss.
type wrapperRow struct {
	name       string
	short      string // letters of options without value
	shortValue string // letters of options with one
	long       string // with a blank before and behind each
	longValue  string
	number     bool // -5 is an option
	operands   int  // words before the inner command
	kind       operandKind
	assigns    bool // NAME=value before the inner command
}

type operandKind uint8

const (
	operandDuration operandKind = iota + 1
	operandNumber
	operandMask
)

var wrapperTable = []wrapperRow{
	// Not -i: without PATH env looks in other directories than the shell would.
	{name: "env", shortValue: "u", longValue: " --unset ", assigns: true},
	{name: "nice", shortValue: "n", longValue: " --adjustment ", number: true},
	{name: "nohup"},
	{name: "stdbuf", shortValue: "ioe", longValue: " --input --output --error "},
	{
		name: "timeout", short: "v", shortValue: "ks", long: " --preserve-status --foreground --verbose ",
		longValue: " --kill-after --signal ", operands: 1, kind: operandDuration,
	},
	{name: "setsid", short: "w", long: " --wait "},
	{name: "time", short: "pvq", long: " --portability --verbose --quiet "},
	{name: "ionice", short: "t", shortValue: "cn", long: " --ignore ", longValue: " --class --classdata "},
	{name: "chrt", short: "bfiorRv", long: " --batch --fifo --idle --other --rr --reset-on-fork --verbose ", operands: 1, kind: operandNumber},
	{name: "taskset", short: "c", long: " --cpu-list ", operands: 1, kind: operandMask},
}

func findWrapper(name string) *wrapperRow {
	for i := range wrapperTable {
		if wrapperTable[i].name == name {
			return &wrapperTable[i]
		}
	}
	return nil
}

// IsWrapper says if a program of this name is one of P-34's.
func IsWrapper(name string) bool { return findWrapper(name) != nil }
