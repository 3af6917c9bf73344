package oracle

import (
	"regexp"
	"strings"

	"openclaw/internal/policy"
)

var parts = regexp.MustCompile(`\s+|[A-Za-z0-9_./-]+|[^\sA-Za-z0-9_./-]`)

// smaller takes tokens and then bytes out of a failing command as long as it still fails.
func (y *yard) smaller(command string) string {
	return minimise(command, func(c string) bool {
		d := y.judge(c)
		if d.Outcome != policy.OutcomeAllow {
			return false
		}
		why, _ := y.fault(c, d)
		return why != ""
	})
}

func minimise(s string, fails func(string) bool) string {
	for _, split := range []func(string) []string{tokensOf, bytesOf} {
		for before := ""; before != s; {
			before = s
			s = drop(split(s), fails)
		}
	}
	return s
}

// drop leaves out as many pieces as it can, large runs of them first.
func drop(list []string, fails func(string) bool) string {
	for size := max(len(list)/2, 1); size >= 1; size /= 2 {
		for at := 0; at+size <= len(list); {
			rest := append(append([]string{}, list[:at]...), list[at+size:]...)
			if fails(strings.Join(rest, "")) {
				list = rest
			} else {
				at += size
			}
		}
	}
	return strings.Join(list, "")
}

func tokensOf(s string) []string {
	var list []string
	last := 0
	for _, at := range parts.FindAllStringIndex(s, -1) {
		if at[0] > last {
			list = append(list, s[last:at[0]])
		}
		list, last = append(list, s[at[0]:at[1]]), at[1]
	}
	if last < len(s) {
		list = append(list, s[last:])
	}
	return list
}

func bytesOf(s string) []string {
	list := make([]string, len(s))
	for i := range len(s) {
		list[i] = s[i : i+1]
	}
	return list
}
