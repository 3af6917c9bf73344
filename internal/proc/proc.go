package proc

import (
	"errors"
	"fmt"
	"math"
	"os"
	"time"
)

// MarkerEnv is the environment variable that carries Spec.Marker. Descendants inherit
// it; the tree walk and the next start of a daemon find them by it.
const MarkerEnv = "OPENCLAW_PROCESS_SESSION"

// ErrNoPTY says that this system cannot give a pseudo-terminal now (for example a
// container without /dev/pts, or a platform without support); the caller may fall
// back to pipes.
var ErrNoPTY = errors.New("no pseudo-terminal available on this system")

// ErrInterrupted is returned by Output.Read after Output.Interrupt.
var ErrInterrupted = errors.New("read interrupted")

// Size is a terminal's size in character cells.
type Size struct {
	Cols, Rows int
}

// check refuses a size that a terminal cannot have.
func (s Size) check() error {
	if s.Cols < 1 || s.Rows < 1 || s.Cols > math.MaxUint16 || s.Rows > math.MaxUint16 {
		return fmt.Errorf("a terminal of %d columns and %d rows cannot be made; give 1 to %d of each", s.Cols, s.Rows, math.MaxUint16)
	}
	return nil
}

// Spec says what to start. It is plain data. Path, Argv and Dir are required.
type Spec struct {
	Path    string   // absolute path of the program
	Argv    []string // argv, argv[0] included
	Env     []string // whole environment; MarkerEnv is set to Marker, or taken out
	Dir     string   // absolute working directory
	Marker  string   // value of MarkerEnv; "" = none
	Stdin   bool     // an open pipe; false = end of file at once
	Own     bool     // in a cgroup of its own where one can be made (Linux)
	Split   bool     // standard error in a pipe of its own
	Outlive bool     // not ended by this program's death
	Extra   *os.File // inherited as descriptor 3; nil = none
	PTY     *Size    // run in a pseudo-terminal of this size; Stdin and Split do not apply
}

// Exit is how a process ended.
type Exit struct {
	Code   int    // exit code; -1 when a signal ended it
	Signal string // "SIGSEGV"; "" when it ended by itself
}

// Left is a process that is still there.
type Left struct {
	Pid  int
	Name string // its command line, shortened
}

// Ref identifies a process beyond the life of its pid: a pid alone may be recycled.
type Ref struct {
	Pid    int
	Marker string
	BootID string        // "" where the system has none
	Before time.Duration // time since boot right before and right after the start
	After  time.Duration
	Sid    int    // session id of the process
	Cgroup string `json:",omitempty"` // directory of its cgroup v2 group, "" = none
}
