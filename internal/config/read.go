package config

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"openclaw/internal/json5"
)

// These bound what one load reports; more would only repeat one mistake.
const (
	maxErrors   = 20
	maxWarnings = 200
)

// loader collects what reading a file gives beside the values.
type loader struct {
	file   string
	getenv func(string) string
	home   string // "" when unknown; then "~" is an error

	errors            []*Error
	warnings, ignored []string
}

// value is one place in the file: a node and the path that leads to it. Its node is
// nil when the file has nothing there.
type value struct {
	l    *loader
	node *json5.Node
	path string
}

const kindObject = json5.Object

func (v value) kind() json5.Kind { return v.node.Kind }

func (v value) fail(message string) { v.failAt(v.node.Start, message, "") }

func (v value) failAt(offset int, message, near string) {
	if len(v.l.errors) == maxErrors {
		return
	}
	line, column := v.node.Position(offset)
	v.l.errors = append(v.l.errors, &Error{
		File: v.l.file, Line: line, Column: column,
		KeyPath: v.path, Message: message, Nearest: near,
	})
}

func (v value) warn(message string) {
	if len(v.l.warnings) >= maxWarnings {
		return
	}
	line, column := v.node.Position(v.node.Start)
	v.l.warnings = append(v.l.warnings, fmt.Sprintf("%s:%d:%d: %s: %s", v.l.file, line, column, v.path, message))
}

// is reports a wrong type.
func (v value) is(kind json5.Kind, expected string) bool {
	if v.node.Kind == kind {
		return true
	}
	v.fail("expected " + expected + ", found " + v.node.Kind.String())
	return false
}

// reader reads one value into the place it was made for, or reports what is wrong.
type reader func(value)

// field is one key of a section.
type field struct {
	key   string
	older []string // other spellings of the same key
	read  reader   // nil: the key belongs to a part of OpenClaw that is not ours
	note  string   // with read nil: a warning that the key has no effect here
}

// strictness says what an unknown key means.
type strictness bool

const (
	strict  strictness = true  // an error: a misspelt key would loosen what the operator meant (C-2)
	lenient strictness = false // kept, listed in Config.Ignored; a probable slip also in Warnings
)

// given remembers under which path each key of a section was found, by the key's
// current name. Two sections that feed one scope (tools.exec and the older exec) share
// one, so that a key in both is an error that names both.
type given map[string]value

// section reads an object by its table. seen may be nil.
func (v value) section(mode strictness, seen given, fields []field) {
	if v.node == nil || !v.is(json5.Object, "an object") {
		return
	}
	if seen == nil {
		seen = given{}
	}
	for _, m := range v.node.Members {
		member := value{v.l, m.Value, json5.PathKey(v.path, m.Key)}
		i := slices.IndexFunc(fields, func(f field) bool {
			return f.key == m.Key || slices.Contains(f.older, m.Key)
		})
		if i < 0 {
			v.unknown(mode, m, fields)
			continue
		}
		f := fields[i]
		if earlier, twice := seen[f.key]; twice {
			member.failAt(m.KeyStart, "the same setting is also given as "+earlier.path+"; keep one", "")
			continue
		}
		seen[f.key] = member
		if f.read != nil {
			f.read(member)
			continue
		}
		v.l.ignored = append(v.l.ignored, member.path)
		if f.note != "" {
			member.warn(f.note)
		}
	}
}

func (v value) unknown(mode strictness, m *json5.Member, fields []field) {
	member := value{v.l, m.Value, json5.PathKey(v.path, m.Key)}
	var known []string
	current := map[string]string{}
	for _, f := range fields {
		for _, spelling := range append([]string{f.key}, f.older...) {
			known = append(known, spelling)
			current[spelling] = f.key
		}
	}
	near := nearest(m.Key, known)
	if mode == strict {
		member.failAt(m.KeyStart, "unknown key", current[near])
		return
	}
	v.l.ignored = append(v.l.ignored, member.path)
	if near != "" && distance(strings.ToLower(m.Key), strings.ToLower(near)) == 1 {
		member.warn("unknown key, without effect; did you mean " + current[near] + "?")
	}
}

// each reads an object whose keys are names that the operator chose.
func (v value) each(read func(name string, v value)) {
	if v.node == nil || !v.is(json5.Object, "an object") {
		return
	}
	for _, m := range v.node.Members {
		read(m.Key, value{v.l, m.Value, json5.PathKey(v.path, m.Key)})
	}
}

// items reads an array.
func (v value) items(expected string, read func(v value)) {
	if v.node == nil || !v.is(json5.Array, expected) {
		return
	}
	for i, e := range v.node.Elements {
		read(value{v.l, e, json5.PathIndex(v.path, i)})
	}
}

// includeKey puts another file's content in its place in a wider OpenClaw.
const includeKey = "$include"

// refuseIncludes reports every include, also in sections that are not ours: policy that
// an include would have brought must not silently become the default (C-1, C-2).
func (v value) refuseIncludes() {
	if v.node == nil {
		return
	}
	for _, m := range v.node.Members {
		member := value{v.l, m.Value, json5.PathKey(v.path, m.Key)}
		if strings.EqualFold(m.Key, includeKey) {
			member.failAt(m.KeyStart, includeKey+" is not supported by this version; put the content into this file", "")
			continue
		}
		member.refuseIncludes()
	}
	for i, e := range v.node.Elements {
		value{v.l, e, json5.PathIndex(v.path, i)}.refuseIncludes()
	}
}

// envReference is ${NAME}; a second dollar sign in front makes it plain text.
var envReference = regexp.MustCompile(`\$?\$\{[A-Z_][A-Z0-9_]*\}`)

// str reads a string and puts environment variables in for ${NAME}.
func (v value) str(expected string) (string, bool) {
	if !v.is(json5.String, expected) {
		return "", false
	}
	ok := true
	got := envReference.ReplaceAllStringFunc(v.node.Text(), func(ref string) string {
		if strings.HasPrefix(ref, "$$") {
			return ref[1:]
		}
		name := ref[2 : len(ref)-1]
		env := v.l.getenv(name)
		if env == "" {
			v.fail("environment variable " + name + " is not set; write $$" + ref[1:] + " if the text is meant")
			ok = false
		}
		return env
	})
	return got, ok
}
