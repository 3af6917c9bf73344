package walk

import (
	"fmt"
	"io"
	"time"
)

// timer is the keyword time; nil where there is none.
type timer struct {
	posix     bool
	begun     time.Time
	user, sys time.Duration
}

func startTimer(keyword string) *timer {
	if keyword == "" {
		return nil
	}
	t := &timer{posix: keyword == "time -p", begun: time.Now()}
	t.user, t.sys = childTimes()
	return t
}

// report prints what bash prints.
func (t *timer) report(to io.Writer) {
	if t == nil {
		return
	}
	real := time.Since(t.begun)
	user, sys := childTimes()
	user, sys = user-t.user, sys-t.sys
	if t.posix {
		fmt.Fprintf(to, "real %.2f\nuser %.2f\nsys %.2f\n", real.Seconds(), user.Seconds(), sys.Seconds())
		return
	}
	fmt.Fprintf(to, "\nreal\t%s\nuser\t%s\nsys\t%s\n", minutes(real), minutes(user), minutes(sys))
}

func minutes(d time.Duration) string {
	return fmt.Sprintf("%dm%.3fs", int(d.Minutes()), (d % time.Minute).Seconds())
}
