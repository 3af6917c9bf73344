// Package cli is the command line: the tree of commands, their flags, what they print
// and their exit codes. It finds a running daemon and asks it, or answers in process;
// both go the same call path. It holds no rule about who may run what, never prompts
// without a terminal, and never prints a secret except the one a command was asked to
// make.
//
// A command is one file: a struct of what the person asked for, a constructor that
// turns flags into it, and a function that does it, so that each is tested apart.
package cli
