package tool

import (
	"os"
	"sync"
	"time"

	"openclaw/internal/config"
	"openclaw/internal/host"
	"openclaw/internal/policy"
	"openclaw/internal/skill"
)

const (
	// skillsEvery is how often the folders of skills are looked at for changes, and that
	// only when a command is judged.
	skillsEvery = time.Second
	// maxSkillPaths bounds how many values of PATH are kept; agents have their own.
	maxSkillPaths = 64
)

// skills keeps which programs the skills declare (P-36). The list is taken when a
// configuration is loaded and again when a folder of skills changes; a name means what each
// PATH found for it at the first look after that, and nothing else until the next list.
type skills struct {
	machine *host.Machine
	now     func() time.Time

	mu     sync.Mutex // guards what follows, also while folders are read
	cfg    *config.Config
	list   *skill.List
	looked time.Time
	paths  map[string]*policy.Skills // by PATH, of list
}

func newSkills(machine *host.Machine, now func() time.Time) *skills {
	return &skills{machine: machine, now: now, list: &skill.List{}}
}

// load takes the list for a configuration.
func (k *skills) load(cfg *config.Config) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.take(cfg)
}

// take reads the folders. Callers hold mu.
func (k *skills) take(cfg *config.Config) {
	k.cfg, k.looked, k.paths = cfg, k.now(), map[string]*policy.Skills{}
	k.list = skill.Read(skill.Options{Dirs: cfg.SkillDirs, Workspaces: workspaces(cfg), Others: host.Others})
}

// rules are the programs for commands that get this PATH, nil when there are no skills.
func (k *skills) rules(cfg *config.Config, path string) *policy.Skills {
	if len(cfg.SkillDirs) == 0 {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	age := k.now().Sub(k.looked)
	switch {
	case k.cfg != cfg:
		k.take(cfg)
	case age >= skillsEvery || age < 0:
		if k.looked = k.now(); k.list.Changed() {
			k.take(cfg)
		}
	}
	if have := k.paths[path]; have != nil {
		return have
	}
	if len(k.paths) >= maxSkillPaths {
		clear(k.paths)
	}
	k.paths[path] = k.find(cfg, path)
	return k.paths[path]
}

// find looks the declared names up along one PATH.
func (k *skills) find(cfg *config.Config, path string) *policy.Skills {
	barred := append(workspaces(cfg), tempFolders()...)
	programs := make([]policy.SkillProgram, 0, len(k.list.Programs))
	for _, p := range k.list.Programs {
		one := policy.SkillProgram{Name: p.Name, Skill: p.Skill, Pinned: host.SuperUser()}
		file, err := k.machine.InPath(p.Name, path, "")
		switch {
		case err != nil:
			one.Why = "when the list of skills was taken, " + err.Error()
		case skill.Inside(file.Path, barred):
			one.Why = "it lies in a workspace or a folder for temporary files (" + file.Real + ")"
		default:
			one.File = file
		}
		programs = append(programs, one)
	}
	return policy.CompileSkills(programs)
}

// ignored are the skills that do not count, with the reasons.
func (k *skills) ignored() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.list.Ignored
}

// workspaces are the folders of all agents, those of agents that have no settings too.
func workspaces(cfg *config.Config) []string {
	list := []string{cfg.Workspace("")}
	for _, agent := range cfg.AgentIDs() {
		list = append(list, cfg.Workspace(agent))
	}
	return list
}

// tempFolders are where every program may leave files.
func tempFolders() []string {
	return []string{os.TempDir(), "/tmp", "/var/tmp", "/dev/shm", "/private/tmp", "/private/var/tmp"}
}
