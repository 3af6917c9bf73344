// Command openclaw lets AI agents run shell commands and keeps people in charge.
package main

import (
	"context"
	"os"

	"openclaw/internal/cli"
)

func main() { os.Exit(cli.Main(context.Background(), os.Args[1:], cli.System())) }
