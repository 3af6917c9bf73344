// Package mcp offers the tools to clients of the Model Context Protocol (C-32): over
// standard input and output, and over HTTP at /mcp. It turns a tools/call into one call
// of its caller and the result back into the protocol's form; arguments pass through as
// raw JSON, because the call path behind the caller checks them and says what is wrong
// in words a model can act on. On standard input and output it can bring a question of the
// call path to the client's person and the answer back (A-60b).
//
// It authenticates nobody, decides nothing and runs nothing. Who may call what is
// settled by the caller value it is handed.
package mcp
