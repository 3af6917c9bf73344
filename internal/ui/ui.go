// Package ui holds the control page as embedded files. It has no logic and knows no
// secret: the page is the same for everybody.
package ui

import _ "embed"

// Policy is the Content-Security-Policy that the page is made for: nothing from
// elsewhere, no script, never in a frame. The gateway sends it with the page.
const Policy = "default-src 'none'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

//go:embed index.html
var index []byte

// Index returns the page as HTML. The caller must not change it.
func Index() []byte { return index }
