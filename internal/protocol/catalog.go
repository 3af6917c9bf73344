package protocol

import "encoding/json"

// Tools returns what clients are told of each tool: one table for every surface. The
// descriptions speak to a model.
func Tools() []ToolInfo {
	return []ToolInfo{
		{
			Name: ToolExec, Title: "Run a shell command", Destructive: true,
			Description: execDescription,
			InputSchema: json.RawMessage(execInput), OutputSchema: json.RawMessage(execOutput),
		},
		{
			Name: ToolProcess, Title: "Work with running commands", Destructive: true,
			Description: processDescription,
			InputSchema: json.RawMessage(processInput), OutputSchema: json.RawMessage(processOutput),
		},
	}
}

const execDescription = `Run a shell command on the operator's machine and return its output, exit code and duration.
It can change anything the operator's account can change: switching off file tools does not make it read-only.
A command that is still running after yieldMs (default 10000) goes on in the background and you get a sessionId; use the process tool with it, and only then.
Start long work once, with background: true, and carry on: its end is reported. Do not write sleep loops or poll in a tight loop; for work at set times use a scheduler, not this tool.
A non-zero exit code is a normal result. stdin is at end of file unless stdin or background is set; use pty: true for programs that need a terminal.
If the status is approval-pending, nothing has started: tell the person, and use process poll with the given sessionId, which waits for the decision and then gives the result; do not run it again or in other words. A denial is final. Print an /approve line only when the result says that approving in chat is not available or that it is the only way.`

const processDescription = `Work with commands that exec left running, or that wait for approval (those that returned a sessionId).
list shows them; poll returns output not yet returned and the state, waiting up to timeout ms; log pages through all output by lines; write sends bytes to standard input;
send-keys, submit, paste, screen and resize work on sessions started with pty: true; kill ends a session and everything it started; clear forgets a finished one; remove does both.
Key names are tmux's: Enter, Tab, Escape, Up, C-c, M-x, F5.`

const execInput = `{
"type":"object","additionalProperties":false,"required":["command"],
"properties":{
"command":{"type":"string","description":"shell command"},
"workdir":{"type":"string","description":"working directory; a literal path, ~ is not expanded; relative paths start at the default directory"},
"env":{"type":"object","additionalProperties":{"type":"string"},"description":"environment variables to set; PATH and loader variables (LD_*, DYLD_*) are refused"},
"yieldMs":{"type":"number","minimum":0,"description":"wait this many ms, then hand the command to the background (default 10000)"},
"background":{"type":"boolean","description":"hand over at once"},
"timeout":{"type":"number","minimum":0,"description":"seconds after which the command is ended; 0 = never (default 1800)"},
"timeoutSeconds":{"type":"number","minimum":0,"description":"same as timeout"},
"pty":{"type":"boolean","description":"run in a pseudo-terminal"},
"cols":{"type":"integer","minimum":1,"maximum":1000,"description":"columns of the pseudo-terminal (default 120)"},
"rows":{"type":"integer","minimum":1,"maximum":1000,"description":"rows of the pseudo-terminal (default 40)"},
"host":{"type":"string","enum":["auto","sandbox","gateway","node"],"description":"where to run"},
"security":{"type":"string","enum":["deny","allowlist","full"],"description":"accepted for compatibility, ignored"},
"ask":{"type":"string","enum":["off","on-miss","always"],"description":"can only make asking stricter"},
"node":{"type":"string","description":"node id, name or address for host=node"},
"stdin":{"type":"boolean","description":"keep standard input open for process write"},
"streams":{"type":"boolean","description":"return stdout and stderr apart"},
"elevated":{"type":"boolean","description":"leave the sandbox for the configured host"}
}}`

const execOutput = `{
"type":"object","required":["status","durationMs"],
"properties":{
"status":{"type":"string","enum":["completed","running","failed","approval-pending","denied","cancelled","killed"]},
"exitCode":{"type":"integer"},"signal":{"type":"string"},"timedOut":{"type":"boolean"},
"durationMs":{"type":"integer"},"output":{"type":"string"},"tail":{"type":"string"},
"stdout":{"type":"string"},"stderr":{"type":"string"},
"truncated":{"type":"object","properties":{"omittedBytes":{"type":"integer"},"droppedBytes":{"type":"integer"},"logPath":{"type":"string"}}},
"sessionId":{"type":"string"},"pid":{"type":"integer"},"cwd":{"type":"string"},"host":{"type":"string"},"node":{"type":"string"},
"warnings":{"type":"array","items":{"type":"string"}},
"approval":{"type":"object"},
"denied":{"type":"object","properties":{"reason":{"type":"string"},"rule":{"type":"string"},"hint":{"type":"string"}}}
}}`

const processInput = `{
"type":"object","additionalProperties":false,"required":["action"],
"properties":{
"action":{"type":"string","enum":["list","poll","log","write","send-keys","submit","paste","kill","clear","remove","screen","resize"]},
"sessionId":{"type":"string","description":"from exec or list; needed by every action but list"},
"timeout":{"type":"number","minimum":0,"description":"poll: wait up to this many ms (at most 30000) for output or the end"},
"offset":{"type":"integer","minimum":0,"description":"log: first line, from 0; without offset and limit the last 200 lines"},
"limit":{"type":"integer","minimum":1,"description":"log: number of lines"},
"data":{"type":"string","description":"write: what to send"},
"encoding":{"type":"string","enum":["utf8","base64"],"description":"write: how data is encoded (default utf8)"},
"eof":{"type":"boolean","description":"write: close standard input afterwards"},
"literal":{"type":"string","description":"send-keys: text typed as it is, before hex and keys"},
"hex":{"type":"array","items":{"type":"string"},"description":"send-keys: bytes in hexadecimal"},
"keys":{"type":"array","items":{"type":"string"},"description":"send-keys: key names as tmux spells them"},
"text":{"type":"string","description":"paste: the text"},
"bracketed":{"type":"boolean","description":"paste: frame the text as a bracketed paste (default true)"},
"cols":{"type":"integer","minimum":1,"maximum":1000,"description":"resize"},
"rows":{"type":"integer","minimum":1,"maximum":1000,"description":"resize"},
"signal":{"type":"string","description":"kill: only send this signal (INT, HUP, USR1, ...) to the process group"}
}}`

const processOutput = `{
"type":"object",
"properties":{
"sessionId":{"type":"string"},
"status":{"type":"string","enum":["running","completed","failed","killed","lost","approval-pending","denied","cancelled"]},
"exitCode":{"type":"integer"},"signal":{"type":"string"},"timedOut":{"type":"boolean"},"durationMs":{"type":"integer"},
"output":{"type":"string"},"offset":{"type":"integer"},"totalLines":{"type":"integer"},
"truncated":{"type":"object","properties":{"omittedBytes":{"type":"integer"},"droppedBytes":{"type":"integer"},"logPath":{"type":"string"}}},
"written":{"type":"integer"},"waitingForInput":{"type":"boolean"},
"sessions":{"type":"array","items":{"type":"object"}},
"screen":{"type":"object"},
"warnings":{"type":"array","items":{"type":"string"}}
}}`
