// Package oracle proves the judge against the machine (P-71): commands from a grammar, and
// the cases mutated, are judged; each one that is allowed is walked as a session would walk
// it, and the kernel tells every program start: what file, with what words, where, in what
// environment. A start that the judgement did not name so is a failure, made smaller and
// kept in testdata/found.jsonl, from where it is tried for ever. It holds tests only.
//
// The programs it allows do nothing, so that whatever is allowed by mistake does nothing
// either; nothing is started that is neither one of these, nor a wrapper, nor a safe bin.
package oracle
