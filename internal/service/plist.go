package service

import (
	"encoding/xml"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// agentLabel is the launchd agent.
const agentLabel = "ai.openclaw.gateway"

// PlistText is the launchd agent for a service. AbandonProcessGroup lets sessions
// outlive the daemon, as KillMode does in UnitText. It is an error if the Spec holds
// relative paths or control characters.
func PlistText(s Spec) (string, error) {
	if err := s.check(); err != nil {
		return "", err
	}
	p := &plist{}
	p.line(0, `<?xml version="1.0" encoding="UTF-8"?>`)
	p.line(0, `<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">`)
	p.line(0, "<!-- "+s.header("     ")+" -->")
	p.line(0, `<plist version="1.0">`)
	p.line(0, "<dict>")
	p.key(1, "Label", stringValue(agentLabel))
	p.key(1, "ProgramArguments", "<array>")
	for _, arg := range append([]string{s.Program}, s.Args...) {
		p.line(2, stringValue(arg))
	}
	p.line(1, "</array>")
	if len(s.Env) > 0 {
		p.key(1, "EnvironmentVariables", "<dict>")
		for _, name := range slices.Sorted(maps.Keys(s.Env)) {
			p.key(2, name, stringValue(s.Env[name]))
		}
		p.line(1, "</dict>")
	}
	p.key(1, "RunAtLoad", "<true/>")
	p.key(1, "KeepAlive", "<dict>")
	p.key(2, "SuccessfulExit", "<false/>")
	p.line(1, "</dict>")
	p.key(1, "AbandonProcessGroup", "<true/>")
	p.key(1, "ExitTimeOut", "<integer>30</integer>")
	if s.Log != "" {
		p.key(1, "StandardOutPath", stringValue(s.Log))
		p.key(1, "StandardErrorPath", stringValue(s.Log))
	}
	p.line(0, "</dict>")
	p.line(0, "</plist>")
	return p.b.String(), nil
}

// plist is a property list that is being written.
type plist struct{ b strings.Builder }

func (p *plist) line(depth int, s string) {
	fmt.Fprintf(&p.b, "%s%s\n", strings.Repeat("\t", depth), s)
}

func (p *plist) key(depth int, name, value string) {
	p.line(depth, "<key>"+escape(name)+"</key>")
	p.line(depth, value)
}

func stringValue(s string) string { return "<string>" + escape(s) + "</string>" }

func escape(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a Builder takes everything
	return b.String()
}
