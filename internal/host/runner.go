package host

import "context"

// Runner starts a helper of ours (never a command somebody asked for) and returns what
// it wrote to stdout, at most limit bytes (more is read and thrown away). The helper gets
// exactly env and dir, a session of its own without a terminal, and stdin and stderr at
// /dev/null. A Runner returns when the process itself has ended: a child it left behind
// that holds stdout must not keep it waiting. When ctx ends it ends the whole tree. What
// was read is returned beside the error.
type Runner func(ctx context.Context, argv, env []string, dir string, limit int) (stdout []byte, err error)
