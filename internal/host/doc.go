// Package host prepares a command for the machine it runs on: which shell, which
// environment, which PATH, which directory. It looks at the machine (start-up files, the
// login shell) and writes only its own caches below the state directory. It starts no
// command that somebody asked for: it hands back what to start, and its own helpers go
// through the Runner it is given. It decides nothing about permission; package policy does.
//
// Local is this machine. What is slow (asking the login shell for its PATH, aliases and
// functions) is done once, shared by all callers, and again when a start-up file changes;
// Local.Prepare itself costs a few microseconds.
package host
