package protocol

// Event is one system event, sent over /events.
type Event struct {
	ID         string `json:"id"`   // "<epoch>-<seq>", usable as Last-Event-ID
	Kind       string `json:"kind"` // EventFinished, EventRunning, EventDenied
	Agent      string `json:"agent"`
	SessionKey string `json:"sessionKey"`          // the agent conversation that owns the run
	RunID      string `json:"runId"`               // process session id (approval id once there is one)
	SessionID  string `json:"sessionId,omitempty"` // process session
	Host       string `json:"host,omitempty"`
	Command    string `json:"command,omitempty"`
	Status     Status `json:"status,omitempty"`
	ExitCode   *int   `json:"exitCode,omitempty"`
	Signal     string `json:"signal,omitempty"`
	TimedOut   bool   `json:"timedOut,omitempty"`
	DurationMs int64  `json:"durationMs,omitempty"`
	Tail       string `json:"tail,omitempty"`
	Text       string `json:"text"`           // "Exec finished (gentle-otter, exit 0): ..." for a model
	Wake       bool   `json:"wake,omitempty"` // the owner asks to be woken
	AtMs       int64  `json:"atMs"`           // Unix time in ms
	Key        string `json:"key,omitempty"`  // of what happened: the same however often it is told
}

// Kinds of events, named as A-40 names them.
const (
	EventRunning  = "exec.running"
	EventFinished = "exec.finished"
	EventDenied   = "exec.denied"
)
