package e2e

import (
	"bufio"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"time"
)

// soakEnv makes the test binary a program that prints what can be checked.
const soakEnv = "OPENCLAW_SOAK_PROGRAM"

// soakSpec is such a program: numbered lines of some width, at some pace, a checksum over
// all of them, an exit code. With Asks it prints each line after one has come in; without
// lines it only takes its time.
type soakSpec struct {
	Tag   string
	Lines int
	Width int // most bytes of filling in a line
	Pause time.Duration
	Asks  bool
	Exit  int
}

func (s soakSpec) String() string {
	return fmt.Sprintf("%s %d %d %d %t %d", s.Tag, s.Lines, s.Width, s.Pause, s.Asks, s.Exit)
}

func parseSoak(text string) (s soakSpec, err error) {
	_, err = fmt.Sscanf(text, "%s %d %d %d %t %d", &s.Tag, &s.Lines, &s.Width, &s.Pause, &s.Asks, &s.Exit)
	return s, err
}

// run prints; it is the same for the same spec.
func (s soakSpec) run(in io.Reader, out io.Writer) error {
	if s.Lines == 0 {
		time.Sleep(s.Pause)
		return nil
	}
	sum := crc32.NewIEEE()
	w := bufio.NewWriterSize(io.MultiWriter(out, sum), 4096)
	rnd := rand.New(rand.NewPCG(uint64(s.Lines), uint64(s.Width)))
	asks := bufio.NewScanner(in)
	for i := 1; i <= s.Lines; i++ {
		if s.Asks && !asks.Scan() {
			return io.ErrUnexpectedEOF
		}
		fill := ""
		if s.Width > 0 {
			fill = strings.Repeat(string(rune('a'+rnd.IntN(26))), rnd.IntN(s.Width))
		}
		fmt.Fprintf(w, "%d %s\n", i, fill)
		if s.Pause > 0 || s.Asks {
			if err := w.Flush(); err != nil {
				return err
			}
			time.Sleep(s.Pause)
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(out, "sum %08x\n", sum.Sum32())
	return err
}

// soakProgram is main in that role.
func soakProgram(text string) int {
	s, err := parseSoak(text)
	if err == nil {
		err = s.run(os.Stdin, os.Stdout)
	}
	if err != nil {
		fmt.Println("fault:", err)
		return 99
	}
	return s.Exit
}

// whole is all that the program prints.
func (s soakSpec) whole() string {
	var b strings.Builder
	s.Pause = 0
	_ = s.run(strings.NewReader(strings.Repeat("\n", s.Lines)), &b) // neither side fails
	return b.String()
}
