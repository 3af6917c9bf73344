package proc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// Starter starts processes and adopts what they leave behind. There is one for each
// process of ours, since being a subreaper is a property of the whole process.
type Starter struct {
	null   *os.File
	bufs   *buffers
	looks  looks
	groups *cgroups // nil where none can be made
	ownTTY bool     // this program has a controlling terminal
	sid    int      // its session id

	starting sync.RWMutex // held for reading while a child is not yet in known; taken before mu
	mu       sync.Mutex   // guards known and, where it says so, reaper
	known    map[int]*Process
	reaper   reaper
	ends     ends // guarded by mu

	cancel context.CancelFunc
	reaped sync.WaitGroup
}

// NewStarter makes this process a child subreaper and begins to reap orphans. Its
// owner calls Close.
func NewStarter() (*Starter, error) { return newStarterIn(ownCgroup()) }

// newStarterIn is NewStarter with the cgroup below which groups are made; "" = none.
func newStarterIn(cgroup string) (*Starter, error) {
	null, err := os.OpenFile(os.DevNull, os.O_RDONLY, 0)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", os.DevNull, err)
	}
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		null.Close()
		return nil, fmt.Errorf("become a child subreaper: %w", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	s := &Starter{null: null, bufs: newBuffers(), known: map[int]*Process{}, cancel: cancel, ownTTY: hasTTY(), sid: ownSid(), groups: openCgroups(cgroup)}
	s.reaper.kick = make(chan struct{}, 1)
	s.reaped.Go(func() { s.reapOrphans(ctx) })
	return s, nil
}

// Close stops reaping. Processes that still run are not ended; their owner ends them
// first.
func (s *Starter) Close() error {
	s.cancel()
	s.mu.Lock()
	if s.reaper.timer != nil {
		s.reaper.timer.Stop()
	}
	s.mu.Unlock()
	s.reaped.Wait()
	s.groups.close()
	return s.null.Close()
}

// Process is one started process. Wait is called by one goroutine; the other methods
// by any.
type Process struct {
	starter *Starter
	ref     Ref
	pidfd   *os.File // nil on a kernel without pidfds
	pidRaw  int      // the same before attach; else -1
	pipes   [2]int   // reading ends before attach; else -1

	Out *Output // standard output, or both, or the terminal
	Err *Output // standard error with Spec.Split, else nil
	In  *Input  // nil when standard input is /dev/null

	terminal *os.File

	mu     sync.Mutex // guards reaped, group and cgroup
	cgroup *cgroup    // nil without one, or when it was given back
	reaped bool
	old    bool // long-lived; guarded by Starter.mu
	group  bool // members of the process group were left when it was reaped
}

// Ref identifies the process beyond this program's life.
func (p *Process) Ref() Ref { return p.ref }

// Start starts what spec says. The new process leads a process group of its own (with
// a terminal, or when this program has one, also a session) and gets SIGKILL when this
// process dies, unless spec says that it outlives it. ErrNoPTY is returned before anything has started.
//
// The parent-death signal belongs to the thread that forks. Go ends a thread only when
// a goroutine returns that is locked to it; nothing in this program does that.
func (s *Starter) Start(spec Spec) (*Process, error) {
	p, err := s.Begin(spec)
	if err != nil {
		return nil, err
	}
	return p, p.attach()
}

// Begin is Start for a program that may end at once: the caller calls Quick before
// anything else but End and Signal.
func (s *Starter) Begin(spec Spec) (*Process, error) {
	fds, err := s.open(spec)
	if err != nil {
		return nil, err
	}
	p := &Process{starter: s, terminal: fds.terminal, ref: Ref{Marker: spec.Marker, BootID: bootID()}, pidRaw: -1}
	sys := &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, PidFD: &p.pidRaw}
	if spec.Outlive {
		sys.Pdeathsig = 0
	}
	switch {
	case spec.PTY != nil:
		sys.Setsid, sys.Setctty = true, true // Ctty 0: the child's standard input
	case s.ownTTY: // it must not reach the operator's terminal through /dev/tty
		sys.Setsid = true
	default: // a session of its own would cost 0.1 ms: the kernel makes a scheduling group
		sys.Setpgid = true
	}
	err = s.fork(p, spec, fds, sys)
	fds.closeChild()
	if err != nil {
		fds.closeOurs()
		return nil, startError(spec, err)
	}
	p.pipes = fds.pipes
	if fds.in != nil {
		p.In = &Input{file: fds.in, pty: fds.terminal != nil}
	}
	return p, nil
}

// attach hands what is to be waited for to the runtime's poller. When that fails the
// process is ended.
func (p *Process) attach() error {
	if p.pidRaw >= 0 && p.pidfd == nil {
		if err := syscall.SetNonblock(p.pidRaw, true); err == nil {
			p.pidfd = os.NewFile(uintptr(p.pidRaw), "pidfd")
		} else {
			syscall.Close(p.pidRaw)
		}
		p.pidRaw = -1
	}
	var err error
	if p.terminal != nil {
		p.Out, err = newOutput(p.terminal, p.starter.bufs)
	}
	for i, to := range []**Output{&p.Out, &p.Err} {
		if fd := p.pipes[i]; fd >= 0 && err == nil {
			p.pipes[i] = -1
			*to, err = newOutput(pollable(fd, "output"), p.starter.bufs)
		}
	}
	if err != nil {
		p.End(context.Background(), 0)
		p.Wait()
	}
	return err
}

// fork starts the process and makes it known. The reaper must not see it before that:
// it would take a child that ends at once for an orphan and throw its exit away.
func (s *Starter) fork(p *Process, spec Spec, fds *files, sys *syscall.SysProcAttr) (err error) {
	s.starting.RLock()
	defer s.starting.RUnlock()
	attr := &syscall.ProcAttr{Dir: spec.Dir, Env: markedEnv(spec), Files: fds.child[:], Sys: sys}
	if spec.Extra != nil {
		attr.Files = append(attr.Files, spec.Extra.Fd())
	}
	if spec.Own {
		p.cgroup = s.groups.get()
	}
	if p.cgroup != nil {
		sys.UseCgroupFD, sys.CgroupFD = true, int(p.cgroup.dir.Fd())
		p.ref.Cgroup = p.cgroup.path
	}
	p.ref.Before = sinceBoot()
	p.ref.Pid, _, err = syscall.StartProcess(spec.Path, spec.Argv, attr)
	if err != nil && p.cgroup != nil { // perhaps the kernel or the group refuses the clone
		s.groups.put(p.cgroup)
		p.cgroup, p.ref.Cgroup = nil, ""
		sys.UseCgroupFD = false
		p.ref.Pid, _, err = syscall.StartProcess(spec.Path, spec.Argv, attr)
	}
	p.ref.After = sinceBoot()
	if err != nil {
		return err
	}
	if p.ref.Sid = s.sid; sys.Setsid {
		p.ref.Sid = p.ref.Pid
	}
	s.mu.Lock()
	s.known[p.ref.Pid] = p
	s.watchAge()
	s.mu.Unlock()
	return nil
}

func startError(spec Spec, err error) error {
	if errors.Is(err, syscall.E2BIG) {
		return fmt.Errorf("start %s: the command and its environment are too long for this system (%w); put the text in a file", spec.Path, err)
	}
	if errors.Is(err, syscall.EAGAIN) {
		return fmt.Errorf("start %s: the limit of processes is reached (%w); end some or raise the limit", spec.Path, err)
	}
	return fmt.Errorf("start %s in %s: %w", spec.Path, spec.Dir, err)
}

// files are the descriptors of one start. The child's ends are blocking, ours are not.
type files struct {
	child    [3]uintptr
	toClose  []int // the child's ends that are ours to close after the start
	in       *os.File
	pipes    [2]int // reading ends of standard output (or both) and error; -1 = none
	terminal *os.File
	slave    *os.File
}

func (s *Starter) open(spec Spec) (*files, error) {
	f := &files{pipes: [2]int{-1, -1}}
	if spec.PTY != nil {
		if err := spec.PTY.check(); err != nil {
			return nil, err
		}
		return f, f.openTerminal(*spec.PTY)
	}
	f.child[0] = s.null.Fd()
	if spec.Stdin {
		r, w, err := pipe()
		if err != nil {
			return nil, err
		}
		f.child[0], f.toClose = uintptr(r), append(f.toClose, r)
		f.in = pollable(w, "stdin")
	}
	err := f.openOutput(0)
	if f.child[2] = f.child[1]; err == nil && spec.Split {
		err = f.openOutput(1)
	}
	if err != nil {
		f.closeChild()
		f.closeOurs()
		return nil, err
	}
	return f, nil
}

// openOutput makes the pipe of standard output (0) or error (1).
func (f *files) openOutput(i int) error {
	r, w, err := pipe()
	if err != nil {
		return err
	}
	f.pipes[i] = r
	f.child[i+1], f.toClose = uintptr(w), append(f.toClose, w)
	return syscall.SetNonblock(r, true)
}

func (f *files) openTerminal(size Size) error {
	master, slave, err := pty.Open()
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNoPTY, err)
	}
	f.slave = slave
	if f.terminal, err = repoll(master); err == nil {
		f.in = f.terminal
		err = setSize(f.terminal, size)
	}
	if err != nil {
		f.closeChild()
		f.closeOurs()
		return fmt.Errorf("%w: %w", ErrNoPTY, err)
	}
	fd := slave.Fd() // makes the child's end blocking, as programs expect
	f.child = [3]uintptr{fd, fd, fd}
	return nil
}

// repoll takes over a terminal's master end for the runtime's poller and closes f. The
// pty library leaves it blocking (it calls Fd), and a read that blocks in the kernel
// cannot be interrupted: a call would hang for as long as something left running holds
// the terminal.
func repoll(f *os.File) (*os.File, error) {
	defer f.Close()
	raw, err := f.SyscallConn()
	if err != nil {
		return nil, err
	}
	fd := -1
	var dupErr error
	if err := raw.Control(func(old uintptr) { fd, dupErr = unix.FcntlInt(old, unix.F_DUPFD_CLOEXEC, 0) }); err != nil {
		return nil, err
	}
	if dupErr != nil {
		return nil, dupErr
	}
	return pollable(fd, "terminal"), nil
}

func (f *files) closeChild() {
	for _, fd := range f.toClose {
		syscall.Close(fd)
	}
	if f.slave != nil {
		f.slave.Close()
	}
}

func (f *files) closeOurs() {
	for _, fd := range f.pipes {
		if fd >= 0 {
			syscall.Close(fd)
		}
	}
	for _, file := range []*os.File{f.in, f.terminal} {
		if file != nil {
			file.Close() // of a terminal both are one file; the second close does no harm
		}
	}
}

func pipe() (r, w int, err error) {
	var p [2]int
	if err := unix.Pipe2(p[:], unix.O_CLOEXEC); err != nil {
		return 0, 0, fmt.Errorf("make a pipe: %w", err)
	}
	return p[0], p[1], nil
}

// pollable hands fd to the runtime's poller, so that waiting for it costs no thread.
func pollable(fd int, name string) *os.File {
	_ = syscall.SetNonblock(fd, true)
	return os.NewFile(uintptr(fd), name)
}

// setSize does not use the pty library, which would make f blocking.
func setSize(f *os.File, s Size) error {
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var setErr error
	err = raw.Control(func(fd uintptr) {
		setErr = unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, &unix.Winsize{Col: uint16(s.Cols), Row: uint16(s.Rows)})
	})
	return errors.Join(err, setErr)
}

// Resize changes the terminal's size; the program gets SIGWINCH.
func (p *Process) Resize(s Size) error {
	if p.terminal == nil {
		return errors.New("not a terminal")
	}
	if err := s.check(); err != nil {
		return err
	}
	return setSize(p.terminal, s)
}

func ownSid() int {
	sid, err := unix.Getsid(0)
	if err != nil {
		return 0
	}
	return sid
}

// hasTTY reports whether this program has a controlling terminal.
func hasTTY() bool {
	fd, err := unix.Open("/dev/tty", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return false
	}
	unix.Close(fd)
	return true
}

func sinceBoot() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts); err != nil {
		return 0
	}
	return time.Duration(ts.Nano())
}
