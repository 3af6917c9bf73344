// Package approval asks people. It keeps the approvals document of this machine,
// exec-approvals.json: what its owner allows, whatever the configuration asks for;
// and the requests: what is asked, who decided, and what became of it. It never
// decides by itself, starts nothing, and never takes a damaged document for an empty one.
package approval

import "errors"

// FileName is the document's name in the state directory.
const FileName = "exec-approvals.json"

// SeenName is the name of a marker in the state directory: once it is there, a missing
// document counts as damaged. Whoever first reads or writes a document makes it.
const SeenName = "exec-approvals.seen"

// ErrDamaged: the document cannot be relied on, so every command that needs it is refused
// with the reason. It comes wrapped with file and reason.
var ErrDamaged = errors.New("the approvals document cannot be used")
