package cli_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"openclaw/internal/cli"
	"openclaw/internal/client"
	"openclaw/internal/supervisor"
)

// TestMain lets this binary play the program when a script calls openclaw.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == supervisor.Role { // the program's own name is lost on this way
		os.Exit(cli.Main(context.Background(), os.Args[1:], cli.System()))
	}
	if filepath.Base(os.Args[0]) != "openclaw" { // under nohup too, what we start hears a hang-up
		signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	}
	testscript.Main(m, map[string]func(){
		"openclaw": func() { os.Exit(cli.Main(context.Background(), os.Args[1:], cli.System())) },
	})
}

// TestScripts runs testdata: each script is a page of documentation that is true. Beside
// testscript's own commands it has
//
//	code N COMMAND...    runs a command that has to end with exit code N
//	ready                waits for the daemon of $OPENCLAW_STATE_DIR
//	json KEY WANT        compares a top-level value of the last output, which is JSON
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Setup: func(env *testscript.Env) error {
			env.Setenv("OPENCLAW_STATE_DIR", env.WorkDir+"/state")
			env.Setenv("HOME", env.WorkDir)
			env.Setenv("SHELL", "/bin/sh")
			env.Setenv("OPENCLAW_SUPERVISOR_IDLE", "1s")
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"code": wantCode, "ready": waitReady, "json": wantJSON,
		},
	})
}

func wantCode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code N COMMAND...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

func waitReady(ts *testscript.TestScript, _ bool, _ []string) {
	dir := ts.Getenv("OPENCLAW_STATE_DIR")
	for range 1000 {
		if _, found, err := client.Find(dir); err == nil && found {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	ts.Fatalf("no daemon on %s after 10 s", dir)
}

func wantJSON(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: json KEY WANT")
	}
	var out map[string]any
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &out))
	got, err := json.Marshal(out[args[0]])
	ts.Check(err)
	if (string(got) == args[1]) == neg {
		ts.Fatalf("%s is %s", args[0], got)
	}
}
