package proc

import (
	"errors"
	"os"
)

func openProgram(path string) (*os.File, error) { return os.Open(path) }

// identify: nothing is judged on Windows, so nothing can be checked.
func identify(*os.File) (FileID, error) {
	return FileID{}, errors.New("judged commands do not run on Windows")
}
