package gateway

import "openclaw/internal/config"

// Check says whether Run would accept a configuration, without starting anything: a
// daemon asks before it lets go of what it has, so that a restart is no outage.
func Check(cfg *config.Config, stateDir string) error {
	if err := checkOptions(cfg); err != nil {
		return err
	}
	_, err := openTLS(cfg.Gateway, stateDir)
	return err
}
