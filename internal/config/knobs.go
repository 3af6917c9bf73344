package config

import (
	"fmt"
	"strconv"
	"strings"
)

// knob is an environment variable of S-6.
type knob struct {
	name            string
	lowest, highest int
	clamp           bool // a value outside is moved to the bound; else it is ignored
	dst             *int
}

// readKnobs puts the environment's values in place of the defaults, before the file is
// read over them: config wins over env (S-6).
func (l *loader) readKnobs(e *Exec) {
	const maxChars = 100_000_000
	for _, k := range []knob{
		{"OPENCLAW_BASH_YIELD_MS", 10, 120_000, false, &e.YieldMs},
		{"OPENCLAW_BASH_MAX_OUTPUT_CHARS", 1, maxChars, false, &e.MaxOutputChars},
		{"OPENCLAW_BASH_PENDING_MAX_OUTPUT_CHARS", 1, maxChars, false, &e.PendingMaxOutputChars},
		{"OPENCLAW_BASH_JOB_TTL_MS", minCleanupMs, maxCleanupMs, true, &e.CleanupMs},
		{"OPENCLAW_PROCESS_INPUT_WAIT_IDLE_MS", 1, maxMillis, false, &e.InputWaitIdleMs},
	} {
		given := strings.TrimSpace(l.getenv(k.name))
		if given == "" {
			continue
		}
		n, err := strconv.Atoi(given)
		inside := min(max(n, k.lowest), k.highest)
		switch {
		case err != nil || n != inside && !k.clamp:
			l.warnings = append(l.warnings, fmt.Sprintf("environment: %s=%q is ignored: expected a whole number from %d to %d", k.name, clip(given), k.lowest, k.highest))
		case n != inside:
			l.warnings = append(l.warnings, fmt.Sprintf("environment: %s=%d is outside %d to %d; %d is used", k.name, n, k.lowest, k.highest, inside))
			*k.dst = inside
		default:
			*k.dst = n
		}
	}
}
