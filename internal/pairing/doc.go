// Package pairing keeps the devices that an operator has let in: their keys, roles, scopes
// and tokens, and the requests of those that wait (protocol 2.5 to 2.7). It answers whether
// a device that has proved its key may connect; it knows no socket and verifies no
// signature.
package pairing
