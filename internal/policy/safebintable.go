package policy

import "strings"

// binProfile is what is known of one filter (P-52..P-55). Lists have a blank before and
// behind each entry.
type binProfile struct {
	letters  string               // short options without value
	flags    string               // long options without value
	maybe    string               // long options with an optional value, a plain word
	values   map[string]valueKind // options with a value
	denied   string
	min, max int    // operands
	number   bool   // -5 is a number of lines
	plus     bool   // +3 too
	dash     bool   // - is standard input
	needs    string // option it must have
	custom   bool
}

type valueKind uint8

const (
	valueAny    valueKind = iota // anything that does not look like a path
	valueNumber                  // 5, +3, -2, 10k, 1M
	valueList                    // 1,3-5
	valueKey                     // sort's 2.1,3nr
	valueWord                    // letters
	valueChar                    // one character
)

// binTable are the built-in profiles.
var binTable = map[string]*binProfile{
	"head": {
		letters: "qvz", flags: " --quiet --silent --verbose --zero-terminated ", number: true, dash: true,
		values: map[string]valueKind{"-n": valueNumber, "-c": valueNumber, "--lines": valueNumber, "--bytes": valueNumber},
	},
	"tail": {
		letters: "qvz", flags: " --quiet --silent --verbose --zero-terminated ", number: true, plus: true, dash: true,
		values: map[string]valueKind{"-n": valueNumber, "-c": valueNumber, "--lines": valueNumber, "--bytes": valueNumber},
		denied: " --follow --retry -F -f ",
	},
	"wc": {
		letters: "cmlLw", flags: " --bytes --chars --lines --max-line-length --words ", dash: true,
		values: map[string]valueKind{"--total": valueWord}, denied: " --files0-from ",
	},
	"uniq": {
		letters: "cdDuiz", flags: " --count --repeated --unique --ignore-case --zero-terminated ", maybe: " --all-repeated --group ",
		values: map[string]valueKind{
			"-f": valueNumber, "-s": valueNumber, "-w": valueNumber,
			"--skip-fields": valueNumber, "--skip-chars": valueNumber, "--check-chars": valueNumber,
		},
	},
	"cut": {
		letters: "snz", flags: " --complement --only-delimited --zero-terminated ", dash: true,
		values: map[string]valueKind{
			"-b": valueList, "-c": valueList, "-f": valueList, "--bytes": valueList, "--characters": valueList, "--fields": valueList,
			"-d": valueAny, "--delimiter": valueAny, "--output-delimiter": valueAny,
		},
	},
	"tr": {letters: "cCdst", flags: " --complement --delete --squeeze-repeats --truncate-set1 ", min: 1, max: 2},
	"grep": {
		letters: "civnoqswxEFGPhHlLzabUTyI", number: true, dash: true, needs: "its pattern as -e PATTERN",
		flags: " --count --ignore-case --no-ignore-case --invert-match --line-number --only-matching --quiet --silent --no-messages --word-regexp " +
			"--line-regexp --extended-regexp --fixed-strings --basic-regexp --perl-regexp --no-filename --with-filename --files-with-matches " +
			"--files-without-match --null-data --null --text --byte-offset --binary --initial-tab --line-buffered ",
		maybe: " --color --colour ",
		values: map[string]valueKind{
			"-e": valueAny, "--regexp": valueAny, "-A": valueNumber, "-B": valueNumber, "-C": valueNumber, "-m": valueNumber,
			"--after-context": valueNumber, "--before-context": valueNumber, "--context": valueNumber, "--max-count": valueNumber,
			"--binary-files": valueWord, "--label": valueWord,
		},
		denied: " --dereference-recursive --directories --exclude-from --file --recursive -R -d -f -r ",
	},
	"sort": {
		letters: "bdfghiMnRrVcCmsuz", dash: true,
		flags: " --ignore-leading-blanks --dictionary-order --ignore-case --general-numeric-sort --human-numeric-sort --ignore-nonprinting " +
			"--month-sort --numeric-sort --random-sort --reverse --version-sort --merge --stable --unique --zero-terminated --debug ",
		maybe: " --check ",
		values: map[string]valueKind{
			"-k": valueKey, "--key": valueKey, "-t": valueChar, "--field-separator": valueChar, "-S": valueNumber, "--buffer-size": valueNumber,
			"--parallel": valueNumber, "--batch-size": valueNumber, "--sort": valueWord,
		},
		denied: " --compress-program --files0-from --output --random-source --temporary-directory -T -o ",
	},
}

// ok says if the value is of the kind.
func (k valueKind) ok(s string) bool {
	switch k {
	case valueNumber:
		return numeric(s)
	case valueList:
		return s != "" && strings.Trim(s, "0123456789,-") == ""
	case valueKey:
		return s != "" && strings.Trim(s, "0123456789.,bdfghiMnRrV") == "" && s[0] >= '0' && s[0] <= '9'
	case valueWord:
		return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz-") == "" && s[0] != '-'
	case valueChar:
		return len([]rune(s)) == 1 || s == "\\t" || s == "\\0"
	}
	return true
}

// numeric says if s is a number with an optional sign and unit.
func numeric(s string) bool {
	if s != "" && (s[0] == '+' || s[0] == '-') {
		s = s[1:]
	}
	digits := strings.TrimLeft(s, "0123456789")
	if len(digits) == len(s) || len(digits) > 3 {
		return false
	}
	switch digits {
	case "", "b", "kB", "KB", "MB", "GB", "TB", "KiB", "MiB", "GiB", "TiB", "%":
		return true
	}
	return len(digits) == 1 && strings.Contains("kKmMGTPEZYRQ", digits)
}
