// Package e2e holds no code: its tests use the product as people and programs do, with
// real MCP clients, a real terminal, a real daemon and real kill -9.
package e2e
