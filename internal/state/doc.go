// Package state is the one durable store: values by key with compare-and-set, and logs
// with sequence numbers. It knows no type of the domain; who uses it declares the small
// interface it needs.
//
// The terms are weak on purpose, so that another implementation can keep them for many
// gateways: one key is changed at a time, and what must change together is one value. This
// implementation is one SQLite file (WAL, synchronous=FULL): what a call has returned is on
// the disk. Writers that come at once share one transaction and its fsync.
package state
