// Package policy decides whether a command may run. It is pure: settings, rules and
// facts in, a decision with its reasons out. It reads no file and starts nothing; what it
// must know of the machine it asks of the Machine that it is given.
package policy
