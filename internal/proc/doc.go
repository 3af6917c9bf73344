// Package proc is the mechanism of running a process: start one program as leader of
// a process group of its own, with pipes or a pseudo-terminal, wait for it, and end
// everything that it started. It knows no policy, no session table and
// no log; it never interprets a command text and it is the only package that starts
// processes.
//
// How the whole tree is found on Linux: the starting process is a child subreaper, so
// an orphan comes back to it instead of to init; every child carries a marker in its
// environment (MarkerEnv) that its descendants inherit; and a walk over /proc collects
// descendants, members of the process group or session, and carriers of the marker.
// Processes are held by pidfd while they are ended, so that a recycled pid is never
// signalled. Elsewhere only the process group is known.
package proc
