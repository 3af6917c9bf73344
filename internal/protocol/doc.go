// Package protocol is the wire contract: the values that travel between a caller and
// the daemon and mean the same on both sides. A value that is the same on the wire
// and inside (an exec result, a tool error) is declared here once and used by every
// floor. The package holds types, their names on the wire and checks of single
// values; it decides nothing, reads no file and starts nothing.
package protocol
