package shell

import "strings"

// Wrapped is what a wrapper was found to do (P-34).
type Wrapped struct {
	Inner   int      // index in words of the inner command word, when Why is ""
	Assigns []Assign // of env, literal, not yet checked against policy's table
	Why     string   // why it cannot be looked through
	// Assigning: a word with = in the place of the inner command word is an assignment to it.
	Assigning bool
}

// Unwrap looks through one wrapper. name is the program's base name; ok is false when it
// is none. Every word up to and including the inner command word must be literal.
func Unwrap(name string, words []Word) (w Wrapped, ok bool) {
	row := findWrapper(name)
	if row == nil {
		return Wrapped{}, false
	}
	i := 1
	for ; i < len(words); i++ {
		word := &words[i]
		if !word.Lit {
			return Wrapped{Why: "a word before the inner command is not literal"}, true
		}
		if len(word.Text) < 2 || word.Text[0] != '-' {
			break
		}
		if word.Text == "--" {
			i++
			break
		}
		skip, why := row.option(word.Text)
		if why != "" {
			return Wrapped{Why: why}, true
		}
		if skip {
			if i++; i >= len(words) || !words[i].Lit || !row.value(words[i].Text) {
				return Wrapped{Why: "the value of " + word.Text + " is missing or not plain"}, true
			}
		}
	}
	for range row.operands {
		if i >= len(words) || !words[i].Lit || !row.operand(words[i].Text) {
			return Wrapped{Why: name + " has no plain operand before the inner command"}, true
		}
		i++
	}
	for ; row.assigns && i < len(words) && strings.IndexByte(words[i].Text, '=') >= 0; i++ {
		if !words[i].Lit {
			return Wrapped{Why: "an assignment is not literal"}, true
		}
		key, value, _ := strings.Cut(words[i].Text, "=")
		w.Assigns = append(w.Assigns, Assign{Name: key, Value: value, Span: words[i].Span})
	}
	switch {
	case i >= len(words):
		return Wrapped{Why: "there is no command in it"}, true
	case !words[i].Lit || words[i].Text == "":
		return Wrapped{Why: "the inner command word is not literal"}, true
	case words[i].Text[0] == '-':
		return Wrapped{Why: "the inner command word looks like an option"}, true
	}
	w.Inner, w.Assigning = i, row.assigns
	return w, true
}

// option checks one option word; skip says that its value is the next word.
func (row *wrapperRow) option(word string) (skip bool, why string) {
	unknown := "its option " + word + " is not known to be harmless"
	if strings.HasPrefix(word, "--") {
		name, value, has := strings.Cut(word, "=")
		switch {
		case listed(row.long, name) && !has:
			return false, ""
		case listed(row.longValue, name) && has && row.value(value):
			return false, ""
		case listed(row.longValue, name) && !has:
			return true, ""
		}
		return false, unknown
	}
	if row.number && allDigits(word[1:]) { // nice -5
		return false, ""
	}
	for i := 1; i < len(word); i++ {
		switch c := word[i]; {
		case strings.IndexByte(row.short, c) >= 0:
		case strings.IndexByte(row.shortValue, c) >= 0 && i+1 == len(word):
			return true, ""
		case strings.IndexByte(row.shortValue, c) >= 0 && row.value(word[i+1:]):
			return false, ""
		default:
			return false, unknown
		}
	}
	return false, ""
}

// value says if an option's value is plain: letters, digits and a few signs. None of the
// known options needs more.
func (row *wrapperRow) value(s string) bool {
	if row.assigns && s == "PATH" { // env -u PATH
		return false
	}
	return plainValue(s, "+-.,:_%")
}

// operand says if an operand before the inner command is what the row expects.
func (row *wrapperRow) operand(s string) bool {
	switch row.kind {
	case operandDuration:
		s = strings.TrimRight(s, "smhd")
		return s != "" && strings.Trim(s, "0123456789.") == ""
	case operandNumber:
		return allDigits(s)
	case operandMask:
		return plainValue(s, ",-:") && strings.Trim(strings.TrimPrefix(strings.ToLower(s), "0x"), "0123456789abcdef,-:") == ""
	}
	return false
}

func plainValue(s, signs string) bool {
	if s == "" {
		return false
	}
	for i := range len(s) {
		c := s[i]
		if !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte(signs, c) >= 0) {
			return false
		}
	}
	return true
}

func allDigits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }
