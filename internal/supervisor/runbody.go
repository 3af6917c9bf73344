package supervisor

import (
	"encoding/json"

	"openclaw/internal/protocol"
	"openclaw/internal/session"
)

// Fields of a run's request. Numbers are never used again for something else.
const (
	runID = iota + 1
	runAgent
	runSessionKey
	runHost
	runCommand
	runDir
	runPath
	runArgv
	runEnv
	runPTY
	runCols
	runRows
	runStdin
	runStreams
	runBackground
	runTimeout
	runRetain
	runIdleInput
	runLogMaxBytes
	runMaxRunning
	runEndLeftovers
	runNotify
	runNotifySilent
	runOutlive
	runRecord
	runYield
	runMaxChars
	runTailTo
	runStarted
	runJudged
)

// encodeRun writes a run's request; started says that its caller wants to know when the
// command has started.
func encodeRun(req session.RunRequest, started bool) []byte {
	p := req.Plan
	w := fieldWriter{b: make([]byte, 0, 4<<10)}
	w.text(runID, p.ID)
	w.text(runAgent, p.Agent)
	w.text(runSessionKey, p.SessionKey)
	w.text(runHost, p.Host)
	w.text(runCommand, p.Command)
	w.text(runDir, p.Dir)
	for _, step := range p.Steps {
		w.text(runPath, step.Path)
		w.texts(runArgv, step.Argv)
	}
	w.texts(runEnv, p.Env)
	w.text(runJudged, string(p.Judged))
	w.flag(runPTY, p.PTY)
	w.number(runCols, int64(p.Cols))
	w.number(runRows, int64(p.Rows))
	w.flag(runStdin, p.Stdin)
	w.flag(runStreams, p.Streams)
	w.flag(runBackground, p.Background)
	w.number(runTimeout, int64(p.Timeout))
	w.number(runRetain, int64(p.Retain))
	w.number(runIdleInput, int64(p.IdleInput))
	w.number(runLogMaxBytes, p.LogMaxBytes)
	w.number(runMaxRunning, int64(p.MaxRunning))
	w.flag(runEndLeftovers, p.EndLeftovers)
	w.flag(runNotify, p.Notify)
	w.flag(runNotifySilent, p.NotifySilent)
	w.flag(runOutlive, p.Outlive)
	w.text(runRecord, string(p.Record))
	w.number(runYield, int64(req.Yield))
	w.number(runMaxChars, int64(req.MaxChars))
	w.number(runTailTo, int64(req.TailTo))
	w.flag(runStarted, started)
	return w.b
}

// decodeRun reads what encodeRun has written.
func decodeRun(b []byte) (req session.RunRequest, started bool, err error) {
	p := &req.Plan
	err = readFields(b, func(f field) (ok bool) {
		ok = true
		switch f.number {
		case runID:
			p.ID = f.text()
		case runAgent:
			p.Agent = f.text()
		case runSessionKey:
			p.SessionKey = f.text()
		case runHost:
			p.Host = f.text()
		case runCommand:
			p.Command = f.text()
		case runDir:
			p.Dir = f.text()
		case runPath:
			p.Steps = append(p.Steps, session.Step{Path: f.text()})
		case runArgv:
			if ok = len(p.Steps) > 0; ok {
				p.Steps[len(p.Steps)-1].Argv, ok = f.texts()
			}
		case runEnv:
			p.Env, ok = f.texts()
		case runJudged:
			p.Judged = append([]byte(nil), f.data...)
		case runRecord:
			p.Record = json.RawMessage(append([]byte(nil), f.data...))
		case runStarted:
			started = f.flag()
		default:
			decodeRunNumber(&req, f)
		}
		return ok
	})
	return req, started, err
}

// decodeRunNumber reads the fields that are numbers and flags.
func decodeRunNumber(req *session.RunRequest, f field) {
	p := &req.Plan
	switch f.number {
	case runPTY:
		p.PTY = f.flag()
	case runCols:
		p.Cols = f.int()
	case runRows:
		p.Rows = f.int()
	case runStdin:
		p.Stdin = f.flag()
	case runStreams:
		p.Streams = f.flag()
	case runBackground:
		p.Background = f.flag()
	case runTimeout:
		p.Timeout = f.span()
	case runRetain:
		p.Retain = f.span()
	case runIdleInput:
		p.IdleInput = f.span()
	case runLogMaxBytes:
		p.LogMaxBytes = f.value
	case runMaxRunning:
		p.MaxRunning = f.int()
	case runEndLeftovers:
		p.EndLeftovers = f.flag()
	case runNotify:
		p.Notify = f.flag()
	case runNotifySilent:
		p.NotifySilent = f.flag()
	case runOutlive:
		p.Outlive = f.flag()
	case runYield:
		req.Yield = f.span()
	case runMaxChars:
		req.MaxChars = f.int()
	case runTailTo:
		req.TailTo = f.int()
	}
}

// Fields of a snapshot. Numbers are never used again for something else.
const (
	snapID = iota + 1
	snapAgent
	snapSessionKey
	snapKey
	snapHost
	snapCommand
	snapDir
	snapStatus
	snapPid
	snapExitCode
	snapSignal
	snapTimedOut
	snapStartTime
	snapEndTime
	snapPTY
	snapStreams
	snapBackground
	snapStdinOpen
	snapWaitingForInput
	snapBytes
	snapDropped
	snapLogPath
	snapWarnings
	snapOutput
	snapStdout
	snapStderr
	snapOmitted
	snapFinal
)

// encodeSnapshot writes a snapshot.
func encodeSnapshot(s session.Snapshot) []byte {
	w := fieldWriter{b: make([]byte, 0, 512+len(s.Output)+len(s.Stdout)+len(s.Stderr))}
	w.text(snapID, s.ID)
	w.text(snapAgent, s.Agent)
	w.text(snapSessionKey, s.SessionKey)
	w.text(snapKey, s.Key)
	w.text(snapHost, s.Host)
	w.text(snapCommand, s.Command)
	w.text(snapDir, s.Dir)
	w.text(snapStatus, string(s.Status))
	w.number(snapPid, int64(s.Pid))
	if s.ExitCode != nil {
		w.always(snapExitCode, int64(*s.ExitCode))
	}
	w.text(snapSignal, s.Signal)
	w.flag(snapTimedOut, s.TimedOut)
	w.instant(snapStartTime, s.Started)
	w.instant(snapEndTime, s.Ended)
	w.flag(snapPTY, s.PTY)
	w.flag(snapStreams, s.Streams)
	w.flag(snapBackground, s.Background)
	w.flag(snapStdinOpen, s.StdinOpen)
	w.flag(snapWaitingForInput, s.WaitingForInput)
	w.number(snapBytes, s.Bytes)
	w.number(snapDropped, s.Dropped)
	w.text(snapLogPath, s.LogPath)
	w.texts(snapWarnings, s.Warnings)
	w.text(snapOutput, s.Output)
	w.text(snapStdout, s.Stdout)
	w.text(snapStderr, s.Stderr)
	w.number(snapOmitted, s.Omitted)
	w.flag(snapFinal, s.Final)
	return w.b
}

// decodeSnapshot reads what encodeSnapshot has written.
func decodeSnapshot(b []byte) (s session.Snapshot, err error) {
	err = readFields(b, func(f field) (ok bool) {
		ok = true
		switch f.number {
		case snapStatus:
			s.Status = protocol.Status(f.text())
		case snapExitCode:
			code := f.int()
			s.ExitCode = &code
		case snapStartTime:
			s.Started = f.instant()
		case snapEndTime:
			s.Ended = f.instant()
		case snapWarnings:
			s.Warnings, ok = f.texts()
		case snapPid:
			s.Pid = f.int()
		case snapBytes:
			s.Bytes = f.value
		case snapDropped:
			s.Dropped = f.value
		case snapOmitted:
			s.Omitted = f.value
		default:
			if to := snapshotText(&s, f.number); to != nil {
				*to = f.text()
			} else if to := snapshotFlag(&s, f.number); to != nil {
				*to = f.flag()
			}
		}
		return ok
	})
	return s, err
}

// snapshotText is the text with a field's number; nil = none.
func snapshotText(s *session.Snapshot, number uint64) *string {
	switch number {
	case snapID:
		return &s.ID
	case snapAgent:
		return &s.Agent
	case snapSessionKey:
		return &s.SessionKey
	case snapKey:
		return &s.Key
	case snapHost:
		return &s.Host
	case snapCommand:
		return &s.Command
	case snapDir:
		return &s.Dir
	case snapSignal:
		return &s.Signal
	case snapLogPath:
		return &s.LogPath
	case snapOutput:
		return &s.Output
	case snapStdout:
		return &s.Stdout
	case snapStderr:
		return &s.Stderr
	}
	return nil
}

// snapshotFlag is the flag with a field's number; nil = none.
func snapshotFlag(s *session.Snapshot, number uint64) *bool {
	switch number {
	case snapTimedOut:
		return &s.TimedOut
	case snapPTY:
		return &s.PTY
	case snapStreams:
		return &s.Streams
	case snapBackground:
		return &s.Background
	case snapStdinOpen:
		return &s.StdinOpen
	case snapWaitingForInput:
		return &s.WaitingForInput
	case snapFinal:
		return &s.Final
	}
	return nil
}
