package tool

import (
	"regexp"
	"strings"

	"openclaw/internal/config"
	"openclaw/internal/protocol"
)

// route finds the host of a call (H-1..H-4, X-16). This version has the gateway only;
// what would have to run elsewhere is refused, never run here instead.
func (s *Service) route(cfg *config.Config, r *run) (*protocol.Denied, error) {
	p := r.params
	mode := cfg.SandboxMode(r.caller.Agent)
	sandboxed := mode == "all" || mode == "non-main" && r.caller.SessionKey != "agent:"+r.caller.Agent+":main"
	want := p.Host
	if want == "" || want == "auto" {
		want = r.settings.Host
	}
	switch {
	case want == "node" || p.Node != "" && want != "gateway" && want != "sandbox":
		return &protocol.Denied{Rule: "H-4", Reason: "host=node: this version has no nodes", Hint: "leave host out to run on the gateway"}, nil
	case want == "sandbox" && !sandboxed:
		return &protocol.Denied{
			Rule: "H-3", Reason: "host=sandbox: no sandbox is active for this session",
			Hint: "the operator switches it on with agents.defaults.sandbox.mode in openclaw.json",
		}, nil
	case sandboxed:
		return &protocol.Denied{
			Rule: "H-4", Reason: "this session is to run in a sandbox (sandbox.mode " + mode + ") and this version has none; nothing runs on the gateway instead",
			Hint: "the operator decides this with agents.defaults.sandbox.mode in openclaw.json",
		}, nil
	}
	if p.Elevated {
		r.warn("elevated was ignored: it matters only in a sandboxed session (H-30)")
	}
	return nil, nil
}

var (
	approveLine   = regexp.MustCompile(`^\s*/approve(\s|$)`)
	channelsLogin = regexp.MustCompile(`(^|[;&|\n({]|\bthen\b|\bdo\b)\s*([A-Za-z_]\w*=\S*\s+|exec\s+|command\s+|sudo\s+|env\s+)*(\S*/)?openclaw\s+(-\S+\s+)*channels\s+(-\S+\s+)*login\b`)
)

// refuse finds the two things that exec never runs, with what to do instead. It
// is a guard rail for mistakes, not a wall.
func refuse(command string) *protocol.Denied {
	switch {
	case approveLine.MatchString(command):
		return &protocol.Denied{
			Rule: "X-15", Reason: "/approve is a chat command for people, not a shell command",
			Hint: "show the line to the person, who sends it in the chat or decides in the control page",
		}
	case channelsLogin.MatchString(strings.ReplaceAll(command, "\\\n", " ")):
		return &protocol.Denied{
			Rule: "X-15", Reason: "openclaw channels login is interactive and asks for credentials",
			Hint: "ask the operator to run it in a terminal of their own",
		}
	}
	return nil
}
