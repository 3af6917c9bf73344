// Package client is how a program of ours reaches a running daemon: it finds the daemon
// of a state directory, calls tools, control methods and the event stream over HTTP
// with one bearer token, and gives back the wire's own values. It sends the token to
// the daemon's address only: never through a proxy, never after a redirect. It decides
// nothing and starts no daemon.
package client
