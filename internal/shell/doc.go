// Package shell reads command text as bash reads it and says what it would run: simple
// commands with their literal words, how they are joined, where each stands in the text,
// which wrappers and shells can be looked through, which options carry code, and what was
// not understood and why.
//
// It starts nothing, opens nothing, and gives no verdict: that is policy's. What it does
// not fully understand becomes a Remark, never a guess (P-20).
package shell
