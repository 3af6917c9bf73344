package config

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"openclaw/internal/json5"
)

// maxFile bounds the file's size; a real one has a few kilobytes.
const maxFile = 4 << 20

// Config is the operator's settings with all defaults filled in. It is read-only once
// it has been handed on; a change of the file gives a new one (Watch).
type Config struct {
	File     string   // absolute path it was read from
	Exists   bool     // false: there is no file and everything is default
	StateDir string   // absolute
	Ignored  []string // key paths that belong to parts of OpenClaw we do not have (C-2)
	Warnings []string // values that were corrected or have no effect, one line each

	Approvals Approvals
	Gateway   Gateway
	Channels  map[string]Channel // by channel name
	Commands  Commands
	SkillDirs []string // absolute; skills.dirs (P-36)

	ElevatedDefault string // off (default), on, ask or full: agents.defaults.elevatedDefault (H-32)
	AgentTimeoutSec int    // agents.defaults.timeoutSeconds; 0 = not set

	exec      Exec
	tools     toolScope
	workspace string // agents.defaults.workspace; "" = not set
	sandbox   Sandbox
	agents    map[string]*agent // by id, lower case
	sum       [sha256.Size]byte // of the file's bytes; zero when it does not exist
}

// Commands is who may use chat commands (M-2).
type Commands struct {
	OwnerAllowFrom  []string // ids of the owners
	UseAccessGroups bool     // default true
}

// Load reads the file at path; one that is missing means defaults. What is wrong in
// the file's content comes as Errors. getenv serves ${NAME}, secrets, the home folder
// and the knobs of S-6, and must not be nil.
func Load(path string, getenv func(string) string) (*Config, error) {
	src, err := readFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return build(path, nil, getenv)
	}
	if err != nil {
		return nil, err
	}
	return Parse(path, src, getenv)
}

// Parse is Load for content that is already at hand, such as an edit not yet written.
// path is used in messages only.
func Parse(path string, src []byte, getenv func(string) string) (*Config, error) {
	root, err := json5.Parse(src)
	if err != nil {
		return nil, syntaxError(path, err)
	}
	c, err := build(path, root, getenv)
	if err != nil {
		return nil, err
	}
	c.sum = sha256.Sum256(src)
	return c, nil
}

func readFile(path string) ([]byte, error) {
	// Looked at before it is opened: opening a named pipe would hang.
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("read configuration: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("read configuration: %s is not a regular file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read configuration: %w", err)
	}
	defer f.Close() // read only, nothing to lose
	src, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("read configuration %s: %w", path, err)
	}
	if len(src) > maxFile {
		return nil, fmt.Errorf("read configuration %s: larger than %d bytes", path, maxFile)
	}
	return src, nil
}

// build fills a Config from the tree; root is nil when there is no file.
func build(path string, root *json5.Node, getenv func(string) string) (*Config, error) {
	stateDir, err := StateDir(getenv)
	if err != nil {
		return nil, err
	}
	l := &loader{file: path, getenv: getenv}
	// Without a home folder everything works that does not say "~".
	l.home, _ = homeDir(getenv)

	c := &Config{
		File: path, Exists: root != nil, StateDir: stateDir,
		Approvals: defaultApprovals(), Gateway: defaultGateway(getenv),
		Channels: map[string]Channel{}, Commands: Commands{UseAccessGroups: true},
		ElevatedDefault: "off",
		exec:            defaultExec(l), sandbox: defaultSandbox(), agents: map[string]*agent{},
	}
	top := value{l, root, ""}
	top.refuseIncludes()
	if len(l.errors) == 0 { // else what is missing would only give further errors
		c.read(l, top)
		c.warnShortToken(top)
	}
	if len(l.errors) > 0 {
		sortErrors(l.errors)
		return nil, Errors(l.errors)
	}
	c.Ignored, c.Warnings = l.ignored, l.warnings
	return c, nil
}

// read is the top of the file. The order matters: an agent's sections are read over
// the global ones.
func (c *Config) read(l *loader, root value) {
	var tools, exec, agents value
	root.section(lenient, nil, []field{
		{key: "tools", read: keep(&tools)},
		{key: "exec", read: keep(&exec)}, // older form of tools.exec (C-2)
		{key: "agents", read: keep(&agents)},
		{key: "approvals", read: c.Approvals.read},
		{key: "gateway", read: c.Gateway.read},
		{key: "channels", read: c.readChannels},
		{key: "commands", read: func(v value) {
			v.section(lenient, nil, []field{
				{key: "ownerAllowFrom", read: ids(&c.Commands.OwnerAllowFrom)},
				{key: "useAccessGroups", read: flag(&c.Commands.UseAccessGroups)},
			})
		}},
		{key: "skills", read: func(v value) {
			v.section(lenient, nil, []field{{key: "dirs", read: folders(&c.SkillDirs)}})
		}},
	})
	c.tools = readTools(tools, "tools")
	readExec(&c.exec, c.tools.exec, exec)
	c.readAgents(l, agents)
}

// syntaxMessage hides what was found where a secret stands: one without quotes would
// end up in the log.
func syntaxMessage(err *json5.Error) string {
	key := err.Path[strings.LastIndexByte(err.Path, '.')+1:]
	if isSecretKey(key) {
		return "expected " + err.Expected + ", found something else (" + redacted + ")"
	}
	return err.Message()
}
