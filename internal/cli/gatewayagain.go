package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"openclaw/internal/proc"
	"openclaw/internal/safefile"
)

// How the daemon begins anew: it gets a signal, asks the program file that would come
// after it whether it takes the configuration, ends in order as on SIGTERM, and becomes
// that program in the same process. Whoever waits for the pid sees nothing of it. A
// program or configuration that would not start leaves the daemon as it is; why, it
// writes down for whoever asked.

const (
	checkFlag    = "check"                // of gateway run: look, do not start
	checkTimeout = 10 * time.Second       // for the program that would come next
	refusalFile  = "gateway.refused.json" // in the state directory
	refusalMax   = 64 << 10               // bytes
)

// successor is the program that comes after this one.
type successor struct {
	program   string // absolute
	argv, env []string
}

func (e *Env) successor() successor {
	return successor{program: e.startPath(), argv: e.Args, env: e.Environ}
}

// check runs the successor with its own command line for a look only: it says whether
// the file can be run and takes the configuration as that version understands it.
func (s successor) check(ctx context.Context) error {
	if s.program == "" || len(s.argv) == 0 {
		return errors.New("it is not known how this program was started")
	}
	ctx, cancel := context.WithTimeoutCause(ctx, checkTimeout, fmt.Errorf("no answer within %s", checkTimeout))
	defer cancel()
	argv := append([]string{s.program}, s.argv[1:]...)
	argv = append(argv, "--"+checkFlag)
	res, err := proc.Run(ctx, argv, s.env)
	if err != nil && ctx.Err() == nil {
		// Commands that end at this moment may take a child of ours for their own, in the
		// instant before it has become another program and shows its marker.
		res, err = proc.Run(ctx, argv, s.env)
	}
	if err != nil {
		return err
	}
	if res.Code == exitOK {
		return nil
	}
	var said []string
	for line := range strings.Lines(string(res.Stderr)) {
		if text, ok := strings.CutPrefix(line, "openclaw: error: "); ok {
			said = append(said, strings.TrimSpace(text))
		}
	}
	if len(said) == 0 {
		return fmt.Errorf("%s would end with exit code %d", s.program, res.Code)
	}
	return errors.New(strings.Join(said, "; "))
}

// allowRestart is the daemon's own look before it lets go of what it has.
func (s successor) allowRestart(stateDir string, log *slog.Logger) func(context.Context) bool {
	return func(ctx context.Context) bool {
		err := s.check(ctx)
		if err == nil {
			log.Info("gateway restarting", "program", s.program)
			return true
		}
		if ctx.Err() != nil {
			return false // it ends anyway
		}
		log.Error("restart refused; the gateway goes on as it is", "program", s.program, "err", err)
		if werr := writeRefusal(stateDir, refusal{PID: os.Getpid(), Reason: err.Error()}); werr != nil {
			log.Warn("tell who asked for the restart", "err", werr)
		}
		return false
	}
}

// become starts the successor in this process; it returns only when that fails, and
// then nothing runs any more.
func (s successor) become() error {
	return hint("the gateway has ended; start it again: openclaw gateway run", "restart: %w", become(s.program, s.argv, s.env))
}

// refusal is why a daemon did not restart.
type refusal struct {
	PID    int    `json:"pid"`
	Reason string `json:"reason"`
}

func writeRefusal(stateDir string, r refusal) error {
	data, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("write down the refusal: %w", err)
	}
	return safefile.Write(filepath.Join(stateDir, refusalFile), append(data, '\n'))
}

// takeRefusal reads a refusal of a daemon and removes it; false = there is none.
func takeRefusal(stateDir string, pid int) (refusal, bool, error) {
	path := filepath.Join(stateDir, refusalFile)
	data, err := safefile.Read(path, refusalMax)
	if errors.Is(err, fs.ErrNotExist) {
		return refusal{}, false, nil
	}
	if err == nil {
		err = os.Remove(path)
	}
	if err != nil {
		return refusal{}, false, fmt.Errorf("read why the gateway refused: %w", err)
	}
	var r refusal
	if err := json.Unmarshal(data, &r); err != nil || r.PID != pid {
		return refusal{}, false, nil // an old one, of somebody else
	}
	return r, true, nil
}
