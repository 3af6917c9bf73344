// Package policy decides whether a command may run. It is pure: settings, rules and
// facts in, a decision with its reasons out. It reads no file, looks at no machine and
// starts nothing; what it must know of the machine is handed in.
package policy
