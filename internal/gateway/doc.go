// Package gateway is the daemon: one process per state directory that listens on one
// port and turns HTTP requests into calls of the floors below. It signs callers in,
// checks what they may reach, decodes, calls, encodes and passes events on. Rules about
// commands are not here; a route or method is a few lines.
//
//	guard (Host, Origin) -> route -> sign-in -> rights -> handler -> tool.Service
//
// Every route passes the guard, also those without a token (C-7). Nothing about who
// calls is taken from a header other than Authorization.
package gateway
