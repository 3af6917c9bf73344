package policy

import (
	"encoding/json"
	"strings"

	"openclaw/internal/shell"
)

// addHint is the one change that would allow a program.
func (s *segment) addHint(f *File) string {
	agent := s.j.in.Agent
	if agent == "" {
		agent = "*"
	}
	return "exec-approvals.json: add {\"pattern\": \"" + f.Real + "\"} to agents[\"" + agent + "\"].allowlist"
}

// spanHint is the entry that would allow a carrier with exactly these arguments.
func (s *segment) spanHint(words []shell.Word, f *File) string {
	var list []string
	for i := 1; i < len(words); i++ {
		if !words[i].Lit {
			return "write the arguments out, and give the entry for " + f.Real + " an argPattern that spans them"
		}
		list = append(list, words[i].Text)
	}
	pattern, err := json.Marshal("^" + quoteECMA(strings.Join(list, " ")) + "$")
	if err != nil {
		return ""
	}
	return strings.Replace(s.addHint(f), "\"}", "\", \"argPattern\": "+string(pattern)+"}", 1)
}
