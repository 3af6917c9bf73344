// Command openclaw lets AI agents run shell commands and keeps people in charge.
package main

import (
	"context"
	"os"
	"runtime/debug"

	"openclaw/internal/cli"
)

func main() {
	if os.Getenv("GOGC") == "" { // calls make much short-lived garbage on a heap of a few MB
		debug.SetGCPercent(400)
	}
	os.Exit(cli.Main(context.Background(), os.Args[1:], cli.System()))
}
