// Package config reads openclaw.json, the operator's settings, into plain structs with
// every default filled in, and says file, line, column, key path and nearest known key
// where the file is wrong (C-1). It also answers what follows from the settings alone:
// an agent's exec settings, its workspace, and which tools it may see (C-20).
//
// It never writes the file, never runs a command to get a secret, and never prints one.
//
// How reading works: each section of the file is a table of fields (see field), each
// with its key, its older spellings and a reader for its type. section walks the
// object in the file against the table, so unknown keys, wrong types, double
// definitions and positions are dealt with in one place. Readers write into the struct
// in place: the defaults are put there first, then the global section is read over
// them, then the agent's section over a copy of that. A key that is not given leaves
// the broader value as it is; this is how "per agent over global" works, key by key.
package config
