package cli

import (
	"os"
	"strings"
)

// Windows has Ctrl-C and nothing like the other signals: a command gets none from us,
// it is ended.
var (
	endSignals    = []os.Signal{os.Interrupt}
	forwarded     = []os.Signal{os.Interrupt}
	hangups       []os.Signal
	windowSignals []os.Signal
	pipeSignals   []os.Signal
)

// signals holds the numbers that shells use for the names.
var signals = map[string]int{"SIGINT": 2, "SIGABRT": 6, "SIGKILL": 9, "SIGSEGV": 11, "SIGTERM": 15}

// signalNumber is the number of "SIGTERM" or "TERM", 0 when nobody knows it.
func signalNumber(name string) int {
	return signals["SIG"+strings.TrimPrefix(strings.ToUpper(name), "SIG")]
}

// signalName is "SIGINT", the only one there is.
func signalName(os.Signal) string { return "SIGINT" }
