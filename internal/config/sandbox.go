package config

import (
	"maps"
	"slices"
)

// Sandbox is what agents.defaults.sandbox and the agent's own section say, key by key
// (H-15, H-16).
type Sandbox struct {
	Mode            string // off (default), non-main or all
	Scope           string // session, agent (default) or shared
	WorkspaceAccess string // none (default), ro or rw
	WorkspaceRoot   string // absolute; "" = not set
	Backend         string // bubblewrap or docker; "" = not set
	Limits          string // strict (default) or best-effort (H-17)
	IdleHours       int    // prune.idleHours; default 24
	MaxAgeDays      int    // prune.maxAgeDays; default 7
	Docker          Docker
}

// Docker is the section sandbox.docker. Sizes are as Docker writes them ("1g").
type Docker struct {
	Image, ContainerPrefix, Workdir, Network, User, SetupCommand string
	ReadOnlyRoot                                                 bool // default true
	Tmpfs, CapDrop, DNS, ExtraHosts, Binds                       []string
	Env                                                          map[string]string
	PidsLimit                                                    int // 0 = not set
	Memory, MemorySwap, CPUs                                     string
	Ulimits                                                      map[string]Ulimit
	SeccompProfile, AppArmorProfile                              string

	// Each lifts one refusal of H-18.
	AllowReservedContainerTargets bool // dangerouslyAllowReservedContainerTargets
	AllowExternalBindSources      bool // dangerouslyAllowExternalBindSources
	AllowContainerNamespaceJoin   bool // dangerouslyAllowContainerNamespaceJoin
}

// Ulimit is a soft and a hard limit.
type Ulimit struct{ Soft, Hard int64 }

func defaultSandbox() Sandbox {
	return Sandbox{
		Mode: "off", Scope: "agent", WorkspaceAccess: "none", Limits: "strict",
		IdleHours: 24, MaxAgeDays: 7,
		Docker: Docker{
			ContainerPrefix: "openclaw-sbx-", Workdir: "/workspace", Network: "none",
			ReadOnlyRoot: true, CapDrop: []string{"ALL"},
		},
	}
}

// SandboxMode is off, non-main or all. A router that has no sandbox must refuse what
// it should have sandboxed.
func (c *Config) SandboxMode(agentID string) string { return c.Sandbox(agentID).Mode }

// Sandbox gives an agent's sandbox settings. In scope shared the agent's own binds do
// not count (H-18). The caller may change the result.
func (c *Config) Sandbox(agentID string) Sandbox {
	s := c.sandbox.clone()
	if a := c.agent(agentID); a != nil {
		s = a.sandbox.clone()
		if s.Scope == "shared" {
			s.Docker.Binds = slices.Clone(c.sandbox.Docker.Binds)
		}
	}
	return s
}

func (s Sandbox) clone() Sandbox {
	d := &s.Docker
	for _, list := range []*[]string{&d.Tmpfs, &d.CapDrop, &d.DNS, &d.ExtraHosts, &d.Binds} {
		*list = slices.Clone(*list)
	}
	d.Env, d.Ulimits = maps.Clone(d.Env), maps.Clone(d.Ulimits)
	return s
}

func (s *Sandbox) read(v value) {
	v.section(strict, nil, []field{
		{key: "mode", read: word(&s.Mode, "off", "non-main", "all")},
		{key: "scope", read: word(&s.Scope, "session", "agent", "shared")},
		{key: "workspaceAccess", read: word(&s.WorkspaceAccess, "none", "ro", "rw")},
		{key: "workspaceRoot", read: folder(&s.WorkspaceRoot)},
		{key: "backend", read: word(&s.Backend, "bubblewrap", "docker")},
		{key: "limits", read: word(&s.Limits, "strict", "best-effort")},
		{key: "prune", read: func(v value) {
			v.section(strict, nil, []field{
				{key: "idleHours", read: whole(&s.IdleHours, 0, 100_000)},
				{key: "maxAgeDays", read: whole(&s.MaxAgeDays, 0, 100_000)},
			})
		}},
		{key: "docker", read: s.Docker.read},
		{key: "ssh"},
		{key: "browser"},
		{key: "sessionToolsVisibility"},
		{key: "environment"},
	})
}

func (d *Docker) read(v value) {
	v.section(strict, nil, []field{
		{key: "image", read: text(&d.Image)},
		{key: "containerPrefix", read: text(&d.ContainerPrefix)},
		{key: "workdir", read: text(&d.Workdir)},
		{key: "readOnlyRoot", read: flag(&d.ReadOnlyRoot)},
		{key: "tmpfs", read: list(&d.Tmpfs)},
		{key: "network", read: text(&d.Network)},
		{key: "user", read: text(&d.User)},
		{key: "capDrop", read: list(&d.CapDrop)},
		{key: "env", read: texts(&d.Env)},
		{key: "setupCommand", read: lines(&d.SetupCommand)},
		{key: "pidsLimit", read: whole(&d.PidsLimit, 1, 1<<22)},
		{key: "memory", read: amount(&d.Memory)},
		{key: "memorySwap", read: amount(&d.MemorySwap)},
		{key: "cpus", read: amount(&d.CPUs)},
		{key: "ulimits", read: d.readUlimits},
		{key: "seccompProfile", read: text(&d.SeccompProfile)},
		{key: "apparmorProfile", read: text(&d.AppArmorProfile)},
		{key: "dns", read: list(&d.DNS)},
		{key: "extraHosts", read: list(&d.ExtraHosts)},
		{key: "binds", read: list(&d.Binds)},
		{key: "dangerouslyAllowReservedContainerTargets", read: flag(&d.AllowReservedContainerTargets)},
		{key: "dangerouslyAllowExternalBindSources", read: flag(&d.AllowExternalBindSources)},
		{key: "dangerouslyAllowContainerNamespaceJoin", read: flag(&d.AllowContainerNamespaceJoin)},
		{key: "gpus"},
	})
}

func (d *Docker) readUlimits(v value) {
	d.Ulimits = map[string]Ulimit{}
	const most = int64(1) << 62
	v.each(func(name string, v value) {
		var u Ulimit
		if v.kind() == kindObject {
			v.section(strict, nil, []field{
				{key: "soft", read: whole(&u.Soft, 0, most)},
				{key: "hard", read: whole(&u.Hard, 0, most)},
			})
		} else {
			whole(&u.Soft, 0, most)(v)
			u.Hard = u.Soft
		}
		d.Ulimits[name] = u
	})
}
