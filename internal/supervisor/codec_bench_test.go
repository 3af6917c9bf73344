package supervisor

import (
	"bufio"
	"bytes"
	"os"
	"testing"
	"time"

	"openclaw/internal/protocol"
	"openclaw/internal/session"
)

// BenchmarkCodec is what a run costs beside the socket: both frames made and read.
func BenchmarkCodec(b *testing.B) {
	req := session.RunRequest{Plan: session.Plan{
		ID: "gentle-otter", Agent: "main", SessionKey: "agent:main:main", Host: "gateway", Command: "true",
		Steps: []session.Step{{Path: "/bin/sh", Argv: []string{"/bin/sh", "-c", "true"}}}, Dir: "/home/me", Env: os.Environ(),
		Timeout: time.Hour, Retain: time.Hour, IdleInput: time.Minute, LogMaxBytes: 1 << 26, MaxRunning: 200, Notify: true,
		Record: []byte(`{"credential":"token:default","origin":"http","decision":"allow","rule":"P-10"}`),
	}, Yield: time.Second, MaxChars: 200000, TailTo: 2000}
	code := 0
	snap := session.Snapshot{Final: true, State: session.State{
		ID: "gentle-otter", Agent: "main", SessionKey: "agent:main:main", Key: "0123456789ab.gentle-otter", Host: "gateway",
		Command: "true", Dir: "/home/me", Status: protocol.StatusCompleted, Pid: 12345, ExitCode: &code, Started: time.Now(), Ended: time.Now(),
	}}
	var buf []byte
	r := bufio.NewReaderSize(nil, readBuffer)
	b.ReportAllocs()
	for b.Loop() {
		buf, _ = appendFrame(buf[:0], frame{raw: encodeRun(req, false)}, nil)
		r.Reset(bytes.NewReader(buf))
		f, _ := readFrame(r)
		if _, _, err := decodeRun(f.raw); err != nil {
			b.Fatal(err)
		}
		buf, _ = appendFrame(buf[:0], frame{raw: encodeSnapshot(snap)}, nil)
		r.Reset(bytes.NewReader(buf))
		f, _ = readFrame(r)
		if _, err := decodeSnapshot(f.raw); err != nil {
			b.Fatal(err)
		}
	}
}
