package tool

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"openclaw/internal/approval"
	"openclaw/internal/config"
	"openclaw/internal/host"
	"openclaw/internal/policy"
)

// judge holds what commands are judged with: the machine's look-ups, the approvals
// document, and the compiled settings of each agent.
type judge struct {
	machine  *host.Machine
	document *approval.Reader
	file     *approval.File
	stateDir string
	self     string // real path of our own program, "" = not known
	skills   *skills

	mu   sync.Mutex // guards bins
	cfg  *config.Config
	bins map[string]*policy.SafeBins // by agent, of cfg
}

func newJudge(stateDir, home, program string) *judge {
	machine := host.NewMachine(nil)
	j := &judge{machine: machine, skills: newSkills(machine, time.Now), document: approval.NewReader(stateDir, home), file: approval.NewFile(stateDir), stateDir: stateDir}
	if real, err := filepath.EvalSymlinks(program); err == nil {
		j.self = real
	}
	return j
}

// place is where a command would run: known before it is judged, and what it gets.
type place struct {
	dir  string // "" = not looked at
	path string // PATH
}

// decide judges a call under all layers (P-1..P-12). An error refuses the call as bad.
func (s *Service) decide(ctx context.Context, cfg *config.Config, r *run, dry bool) (policy.Decision, error) {
	set := r.settings
	in := policy.Input{
		Command: r.params.Command, Agent: r.caller.Agent, Env: r.params.Env, Self: s.judge.self,
		Terminal: r.params.PTY, PowerShell: host.TextIsPowerShell, Explain: dry,
		Layers: policy.Layers{
			Security: policy.Security(set.Security), SecuritySource: set.SecurityKey,
			Ask: policy.Ask(set.Ask), AskSource: set.AskKey,
			CallAsk: r.params.Ask, StrictInlineEval: set.StrictInlineEval,
		},
	}
	doc, err := s.judge.document.For(r.caller.Agent)
	if err != nil {
		return policy.Decision{
			Outcome: policy.OutcomeDeny, Rule: "A-2", Reason: err.Error(), Effective: policy.Combine(in.Layers),
			Hint: "the operator looks at it with openclaw approvals get, and mends " + filepath.Join(s.judge.stateDir, approval.FileName) + " or puts it back from a copy",
		}, nil
	}
	in.Layers.Host = doc.Policy
	if !dry && !in.Layers.Looks() { // full and off: nothing is looked at, and nothing waited for
		return policy.Decide(in), nil
	}
	if r.place.dir, err = host.ResolveDir(s.hostRequest(cfg, r)); err != nil {
		return policy.Decision{}, err
	}
	path, _, err := s.host.Path(ctx, set.PathPrepend)
	if err != nil {
		return policy.Decision{}, err
	}
	r.place.path = path
	in.Dir, in.Path, in.Machine = r.place.dir, path, s.judge.machine.Once()
	in.Rules = policy.Rules{
		Allowlist: doc.List, SafeBins: s.judge.safeBins(cfg, r.caller.Agent, set), AllowStreamRedirects: set.AllowStreamRedirects,
	}
	if doc.Policy.AutoAllowSkills {
		in.Rules.Skills = s.judge.skills.rules(cfg, path)
	}
	d := policy.Decide(in)
	if dry {
		d.Warnings = append(doc.List.Useless(), in.Rules.SafeBins.Warnings()...)
		if doc.Policy.AutoAllowSkills {
			d.Warnings = append(append(d.Warnings, s.judge.skills.ignored()...), in.Rules.Skills.Useless()...)
		}
	}
	return d, nil
}

// safeBins are the compiled safe bins of an agent, made once for a configuration.
func (j *judge) safeBins(cfg *config.Config, agent string, set config.Exec) *policy.SafeBins {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.cfg != cfg {
		j.cfg, j.bins = cfg, map[string]*policy.SafeBins{}
	}
	if b := j.bins[agent]; b != nil {
		return b
	}
	profiles := make(map[string]policy.Profile, len(set.SafeBinProfiles))
	for name, p := range set.SafeBinProfiles {
		profiles[name] = policy.Profile(p)
	}
	b := policy.CompileSafeBins(set.SafeBins, set.SafeBinTrustedDirs, profiles)
	j.bins[agent] = b
	return b
}

// hostRequest is what the host is asked for, without what the decision adds.
func (s *Service) hostRequest(cfg *config.Config, r *run) host.Request {
	return host.Request{
		Command: r.params.Command, Workdir: r.params.Workdir, DefaultDir: r.caller.WorkDir, Workspace: cfg.Workspace(r.caller.Agent),
		PathPrepend: r.settings.PathPrepend,
	}
}

// refusal is a call's fault as a decision, for explanations (P-12).
func (s *Service) refusal(r *run, err error) policy.Decision {
	rule := "X-1"
	switch {
	case isEnvError(err):
		rule = "X-10"
	case strings.Contains(err.Error(), "directory"):
		rule = "P-32"
	}
	return policy.Decision{
		Outcome: policy.OutcomeDeny, Rule: rule, Reason: err.Error(), Hint: "correct the parameter",
		Effective: policy.Combine(policy.Layers{
			Security: policy.Security(r.settings.Security), SecuritySource: r.settings.SecurityKey,
			Ask: policy.Ask(r.settings.Ask), AskSource: r.settings.AskKey, CallAsk: r.params.Ask,
		}),
	}
}

// changed is the refusal of a command of which something is not what was judged (P-60).
func changed(err error) string {
	return fmt.Sprintf("%v; nothing was started", err)
}
