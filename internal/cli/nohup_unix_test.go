//go:build unix

package cli_test

import (
	"bytes"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"openclaw/internal/client"
)

// nohup makes a command of the program that is started to ignore hang-ups.
func nohup(env []string, args ...string) *exec.Cmd {
	cmd := exec.Command("sh", append([]string{"-c", `trap '' HUP; exec openclaw "$@"`, "sh"}, args...)...)
	cmd.Env = append(os.Environ(), env...)
	return cmd
}

func TestNohupKeepsTheDaemon(t *testing.T) {
	state := t.TempDir() + "/state"
	cmd := nohup([]string{"OPENCLAW_STATE_DIR=" + state}, "gateway", "run", "--port", "0")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { defer close(ended); _ = cmd.Wait() }()
	running := func() bool {
		_, found, err := client.Find(state)
		return err == nil && found
	}
	for i := 0; !running(); i++ {
		if i == 1000 {
			t.Fatal("no daemon after 10 s")
		}
		time.Sleep(10 * time.Millisecond)
	}
	if err := cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	select {
	case <-ended:
		t.Error("the hang-up ended the daemon")
	case <-time.After(300 * time.Millisecond):
	}
	_ = cmd.Process.Signal(syscall.SIGTERM)
	<-ended
	if code := cmd.ProcessState.ExitCode(); code != 0 {
		t.Errorf("SIGTERM: exit code %d", code)
	}
}

func TestC31_NohupKeepsTheCommand(t *testing.T) {
	bothWays(t, func(t *testing.T, env []string) {
		cmd := nohup(env, "exec", "-i", "--", `trap 'exit 8' HUP; echo up; read line; echo "$line"`)
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := out.Read(make([]byte, 8)); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Process.Signal(syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
		time.Sleep(200 * time.Millisecond)
		if _, err := in.Write([]byte("still here\n")); err != nil {
			t.Fatal(err)
		}
		var rest bytes.Buffer
		if _, err := rest.ReadFrom(out); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Wait(); err != nil || rest.String() != "still here\n" {
			t.Errorf("%v, output %q", err, &rest)
		}
	})
}
