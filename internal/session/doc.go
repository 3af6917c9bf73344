// Package session owns what runs. It takes a plan (plain data: what to start, where,
// with which environment and limits), starts it, keeps its output in a log on disk
// with absolute offsets, and answers questions about it: wait, poll, page through the
// log, write, keys, screen, resize, kill. It decides nothing: who may run what is
// settled before a plan is made.
//
// Everything that goes in or comes out is plain data, and no caller holds a process, a
// file or a lock of this package, so that the table can live in a process of its own.
//
// One command runs through three goroutines: a reader for each output pipe, a waiter
// for the exit, and the caller's. The waiter is the owner: it stores the exit first and
// then closes done.
package session
