package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/spf13/cobra"

	"openclaw/internal/approval"
	"openclaw/internal/client"
	"openclaw/internal/config"
	"openclaw/internal/state"
)

// The verdicts of a check (C-41).
const (
	checkOK   = "ok"
	checkWarn = "warn"
	checkFail = "fail"
)

// check is what doctor found out about one thing.
type check struct {
	Name    string `json:"name"`
	Verdict string `json:"verdict"` // ok, warn or fail
	Text    string `json:"text"`
	Fix     string `json:"fix,omitempty"`
}

type doctorReport struct {
	OK     bool    `json:"ok"` // no check failed
	Checks []check `json:"checks"`
	Backup string  `json:"backup,omitempty"` // the file that --backup made
}

func newDoctor(env *Env) *cobra.Command {
	var asJSON, backup bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "check what openclaw keeps on this machine, and back it up",
		Long: `Check the state directory, the configuration, the approvals document, the gateway and the
store of approvals and devices, and say what to do about what is wrong. The store is read
whole. Nothing is changed.

The exit code is 1 when a check failed.`,
		Example: `  openclaw doctor
  openclaw doctor --backup          # also copies the store, beside it
  openclaw doctor --json | jq '.checks[] | select(.verdict != "ok")'`,
		Args: takes(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return interruptible(cmd.Context(), func(ctx context.Context) error { return runDoctor(ctx, env, asJSON, backup) })
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&backup, "backup", false, "copy the store to state/backups")
	return cmd
}

func runDoctor(ctx context.Context, env *Env, asJSON, backup bool) error {
	dir, err := config.StateDir(env.Getenv)
	if err != nil {
		return err
	}
	d := doctor{env: env, dir: dir}
	d.directory()
	d.configuration()
	d.document()
	running := d.gateway()
	rep := doctorReport{}
	if running {
		rep.Backup = d.storeOfDaemon(ctx, backup)
	} else {
		rep.Backup = d.store(ctx, backup)
	}
	rep.Checks, rep.OK = d.checks, true
	for _, c := range d.checks {
		rep.OK = rep.OK && c.Verdict != checkFail
	}
	if asJSON {
		err = env.json(rep)
	} else {
		err = rep.print(env)
	}
	if err == nil && !rep.OK {
		err = &exitError{code: exitFailed}
	}
	return err
}

func (rep *doctorReport) print(env *Env) error {
	for _, c := range rep.Checks {
		if err := env.printf("%-4s  %s  %s\n", c.Verdict, env.bold(fmt.Sprintf("%-10s", c.Name)), visible(c.Text)); err != nil {
			return err
		}
		if c.Fix != "" {
			if err := env.printf("      %-10s  fix: %s\n", "", visible(c.Fix)); err != nil {
				return err
			}
		}
	}
	if rep.Backup == "" {
		return nil
	}
	return env.printf("\nthe store was copied to %s\n", visible(rep.Backup))
}

// doctor collects the checks of one run.
type doctor struct {
	env    *Env
	dir    string // the state directory
	checks []check
}

func (d *doctor) say(name, verdict, text, fix string) {
	d.checks = append(d.checks, check{Name: name, Verdict: verdict, Text: text, Fix: fix})
}

func (d *doctor) directory() {
	info, err := os.Stat(d.dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		d.say("state", checkOK, d.dir+" is not there yet; it is made when it is needed", "")
	case err != nil:
		d.say("state", checkFail, err.Error(), "make the directory readable for your account")
	case !info.IsDir():
		d.say("state", checkFail, d.dir+" is no directory", "move the file away, or set OPENCLAW_STATE_DIR")
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0:
		d.say("state", checkFail, fmt.Sprintf("%s is open to other users (mode %04o)", d.dir, info.Mode().Perm()), "chmod 700 "+d.dir)
	default:
		d.say("state", checkOK, d.dir, "")
	}
}

func (d *doctor) configuration() {
	path, err := config.Path(d.env.Getenv)
	if err != nil {
		d.say("config", checkFail, err.Error(), "")
		return
	}
	cfg, err := config.Load(path, d.env.Getenv)
	switch {
	case err != nil:
		d.say("config", checkFail, err.Error(), "openclaw config validate shows each fault with its line")
	case !cfg.Exists:
		d.say("config", checkOK, path+" is not there: defaults", "")
	default:
		d.say("config", checkOK, path, "")
		for _, w := range cfg.Warnings {
			d.say("config", checkWarn, w, "")
		}
	}
}

func (d *doctor) document() {
	path := filepath.Join(d.dir, approval.FileName)
	home, _ := os.UserHomeDir() // "" = none: only entries with ~ need it
	host, err := approval.NewReader(d.dir, home).For(config.MainAgent)
	switch {
	case err != nil:
		d.say("approvals", checkFail, err.Error(),
			"nothing that needs the document runs until it is mended: repair or restore "+path)
	case !host.Exists:
		d.say("approvals", checkOK, path+" is not there: no allowlist, the configuration alone decides", "")
	default:
		d.say("approvals", checkOK, path, "")
	}
}

// gateway reports whether a daemon runs.
func (d *doctor) gateway() bool {
	ep, found, err := client.Find(d.dir)
	switch {
	case err != nil:
		d.say("gateway", checkFail, err.Error(), "openclaw gateway restart")
	case !found:
		d.say("gateway", checkOK, "not running", "")
	case ep.Version != d.env.Version:
		d.say("gateway", checkWarn, ep.URL+" runs version "+ep.Version+", this is "+d.env.Version, "openclaw gateway restart")
	default:
		d.say("gateway", checkOK, ep.URL, "")
	}
	return found
}

// storeOfDaemon asks the daemon, which alone has the store open.
func (d *doctor) storeOfDaemon(ctx context.Context, backup bool) (copied string) {
	c, done, err := d.env.operator(ctx)
	if err != nil {
		d.say("store", checkWarn, "not looked at: "+err.Error(), "run it in a terminal of your own")
		return ""
	}
	defer func() { _ = done() }() // it only ends idle connections
	var health struct {
		Path, Problem string
		OK            bool
	}
	if err := c.RPC(ctx, "state.check", nil, &health); err != nil {
		d.say("store", checkFail, err.Error(), "")
		return ""
	}
	if !health.OK {
		d.say("store", checkFail, health.Problem, storeFix(health.Path))
		return ""
	}
	d.say("store", checkOK, health.Path, "")
	if !backup {
		return ""
	}
	var made struct{ Path string }
	if err := c.RPC(ctx, "state.backup", nil, &made); err != nil {
		d.say("backup", checkFail, err.Error(), "")
	}
	return made.Path
}

// store opens the store here, when no daemon has it.
func (d *doctor) store(ctx context.Context, backup bool) (copied string) {
	path := state.PathIn(d.dir)
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		d.say("store", checkOK, path+" is not there yet", "")
		if backup {
			d.say("backup", checkFail, "there is no store to copy", "")
		}
		return ""
	}
	st, err := state.Open(ctx, path)
	if err != nil {
		d.say("store", checkFail, err.Error(), storeFix(path))
		return ""
	}
	if err = st.Check(ctx); err != nil {
		d.say("store", checkFail, err.Error(), storeFix(path))
	} else {
		d.say("store", checkOK, path, "")
	}
	if backup && err == nil {
		if copied, err = st.BackupBeside(ctx); err != nil {
			d.say("backup", checkFail, err.Error(), "")
		}
	}
	if err := st.Close(); err != nil {
		d.say("store", checkFail, err.Error(), storeFix(path))
	}
	return copied
}

func storeFix(path string) string {
	return "stop the gateway, move " + path + " away with the files beside it, and put a copy from " +
		filepath.Join(filepath.Dir(path), "backups") + " in its place; without one, open requests and paired devices start anew"
}
