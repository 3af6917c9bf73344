// Package terminal knows terminals: the bytes a key sends, the frame of a
// paste, which modes a program has switched on, what the screen shows after a
// stretch of output, and what to write to another terminal so that it shows the same.
//
// It starts nothing, opens nothing and does no I/O: callers give bytes and get
// bytes or values. It never blocks, never answers a query that stands in the
// output nor hands one on (a replayed query must not type into a live program),
// and its memory and time are bounded whatever a hostile program prints.
//
// The encodings are xterm's, which is what TERM=xterm-256color promises.
package terminal
