package oracle

import (
	"slices"
	"strings"
)

// tokens are what random mutations put into commands.
var tokens = []string{
	" ", "\n", ";", "&", "&&", "||", "|", "|&", "(", ")", "{ ", " }", "'", "\"", "\\", "$", "`", "$(", "${", "}", "<", ">", "2>&1", ">/dev/null", "<<E\n", "#", "*", "?", "[", "]", "~", "=", "!", "-", "--", "-c ", "id", "git", "sh -c ", "nice ",
	"env ", "cd sub && ", "if ", "; then ", "; fi", "for i in ", "; do ", "; done", "time ", "eval ", "A=b ", "\\\n", "$'", "é", "\t", "{a,b}", "coproc ", "function ", "() ", "case x in ", ";; esac", "[[ ", " ]]", "((", "))", "select ", "./", "../",
}

// mutate changes a command in one to three places.
func mutate(g grammar, s string) string {
	for range 1 + g.r.IntN(3) {
		at := g.r.IntN(len(s) + 1)
		switch g.r.IntN(8) {
		case 0, 1:
			s = s[:at] + g.pick(tokens...) + s[at:]
		case 2: // take some bytes out
			s = s[:at] + s[min(at+1+g.r.IntN(4), len(s)):]
		case 3: // a part twice
			end := min(at+1+g.r.IntN(8), len(s))
			s = s[:end] + s[at:end] + s[end:]
		case 4: // two words swapped, one twice, one away
			words := strings.Split(s, " ")
			i, k := g.r.IntN(len(words)), g.r.IntN(len(words))
			switch g.r.IntN(4) {
			case 0, 1:
				words[i], words[k] = words[k], words[i]
			case 2:
				words = slices.Insert(words, k, words[i])
			case 3:
				words = slices.Delete(words, i, i+1)
			}
			s = strings.Join(words, " ")
		case 5: // a word in other quotes
			words := strings.Split(s, " ")
			i := g.r.IntN(len(words))
			words[i] = g.pick("'"+words[i]+"'", `"`+words[i]+`"`, "$'"+words[i]+"'", `\`+words[i], words[i]+`""`, "''"+words[i])
			s = strings.Join(words, " ")
		case 6: // a byte escaped, turned or doubled
			if at < len(s) {
				s = s[:at] + g.pick(`\`, `\`+"\n", s[at:at+1], string(s[at]^0x20), string(s[at]+1)) + s[at+g.r.IntN(2):]
			}
		case 7:
			s = g.pick("sh -c "+g.quoted(s), "bash -c "+g.quoted(s), g.wrapper()+s, s+" | "+g.safeBin(), "for i in a b; do "+s+"; done", s+" || "+s, g.simple()+"; "+s, "("+s+")", "{ "+s+"; }", "nice "+s, s+" | cat", "! "+s, "time "+s, "cd sub && "+s, "if "+s+"; then git; fi", s+" 2>&1")
		}
	}
	return s
}
