// Package supervisor keeps process sessions in a process of their own, which outlives
// the daemon: the same binary in another role, one for each user and state directory,
// started on demand. Serve is that process; Client is what the gateway, a node and the
// command line talk to it with, and has the methods of session.Table.
//
// They speak frames over a Unix socket (0600, in a private folder) to which only the
// same user is let in. Everything in them is plain data. A frame has a JSON part, to
// which later versions may add, and raw bytes for what JSON cannot hold or would only
// slow down.
//
// A supervisor that is no longer wanted, since a daemon of another version has come, is
// retired: it starts nothing new, serves the sessions it has and ends with the last of
// them. What it leaves on disk is taken over by the next one.
//
// The package decides nothing about commands and knows no configuration, no gateway and
// no store.
package supervisor
