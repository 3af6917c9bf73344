// Package oracle proves the judge against the machine (P-71): commands from a grammar, and
// the cases mutated, are judged; each one that is allowed is walked as a session would walk
// it, under a trace of every program start; a start that the judgement did not name is a
// failure, made smaller and kept in testdata/found.txt. It holds tests only.
package oracle
