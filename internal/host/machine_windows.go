package host

import (
	"errors"

	"openclaw/internal/policy"
)

// TextIsPowerShell says that commands on this system are not for a shell that is judged.
const TextIsPowerShell = true

// On Windows nothing is judged by look-ups: commands are PowerShell there.
var errNoJudge = errors.New("programs are not looked up on Windows")

func statID(string) (policy.FileID, error)  { return policy.FileID{}, errNoJudge }
func statDir(string) (policy.FileID, error) { return policy.FileID{}, errNoJudge }
func mayExecute(string) bool                { return false }
func whoElse(path string) string            { return path + " cannot be examined" }
func whoElseDirs(path string) string        { return path + " cannot be examined" }
func mayWrite(string) bool                  { return true }
