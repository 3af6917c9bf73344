package cli

import (
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"
)

// impatience is how soon a second SIGINT, SIGHUP or SIGQUIT means "end it" and not "tell
// it again".
const impatience = 2 * time.Second

// watchSignals takes the signals for the command until stop is called.
func (x *execution) watchSignals() (stop func()) {
	arrived := make(chan os.Signal, 8)
	signal.Notify(arrived, slices.Concat(heard(forwarded), windowSignals, pipeSignals)...)
	quit := make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer x.raw.restoreOnPanic()
		var p patience
		for {
			select {
			case s := <-arrived:
				x.signal(s, &p)
			case <-quit:
				return
			}
		}
	}()
	return func() {
		signal.Stop(arrived)
		close(quit)
		<-done
	}
}

// signal acts on one signal.
func (x *execution) signal(s os.Signal, p *patience) {
	switch {
	case slices.Contains(windowSignals, s):
		if x.opt.tty {
			x.resize()
		}
		return
	case slices.Contains(pipeSignals, s):
		return // the write has failed, and says so
	}
	end := &signalled{sig: s}
	session := x.sessionID()
	if session == "" || p.exhausted(end.name(), time.Now()) {
		x.cancel(end)
		return
	}
	name := strings.TrimPrefix(end.name(), "SIG")
	x.beside(processArgs{Action: "kill", SessionID: session, Signal: name}, func(error) {
		x.cancel(end) // it cannot be told, so it is ended
	})
}

// patience counts what a person has asked for already; the zero value is the beginning.
type patience struct {
	last       map[string]time.Time // by signal: when it last came
	terminated bool
}

// exhausted says whether this signal is the one too many: a second SIGTERM, or a second
// one of the others within two seconds. Those may well be meant for the command again
// later: a server reads its settings anew at each SIGHUP.
func (p *patience) exhausted(name string, now time.Time) bool {
	if name == "SIGTERM" {
		again := p.terminated
		p.terminated = true
		return again
	}
	if p.last == nil {
		p.last = map[string]time.Time{}
	}
	before, again := p.last[name]
	p.last[name] = now
	return again && now.Sub(before) < impatience
}
