package tool

// Caller is who asks, as established by the surface that authenticated it. Nothing in
// it may come from the request's own text or headers.
type Caller struct {
	Agent      string // agent id; required
	SessionKey string // conversation that owns runs and gets their events, e.g. "agent:main:main"; required
	Credential string // stable id of the credential, scope of idempotency keys: "operator", "token:ab12", "local"
	Operator   bool   // holds the operator's credential
	Origin     string // surface, for the audit record: "mcp", "http", "cli", "stdio"
	WorkDir    string // default working directory; "" = the agent's workspace

	asks *asked // puts questions to its own person, and takes this one along (A-60b); nil = does not
}
