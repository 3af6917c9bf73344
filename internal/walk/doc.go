// Package walk runs a judged plan (P-60): it goes through the tree and starts the programs
// that the judgement named, each by the file that was checked right before, in the
// directory that was judged. Nothing reads the command's text again and no shell is
// started.
//
// A plan of one program is started directly (Prepare). Any other is walked by a process of
// its own, the program in its role "walk" (Main), which leads the session's process group
// as a shell would: signals, terminals and leftovers work as they do for one. It takes the
// plan from a descriptor, never from arguments, and decides nothing.
package walk
