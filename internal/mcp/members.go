package mcp

import (
	"bytes"
	"encoding/json"
)

// This file reads JSON that is known to be valid, without decoding it: called with
// anything else it may panic.

// members gives every member of an object, its value as it stands in the text. It
// reports whether all of it nests at most plainDepth deep.
func members(object []byte, each func(name, value []byte)) (shallow bool) {
	shallow = true
	i := afterSpace(object, 0) + 1 // after the brace
	for {
		i = afterSpace(object, i)
		switch object[i] {
		case '}':
			return shallow
		case ',':
			i++
			continue
		}
		end := afterString(object, i)
		name := object[i+1 : end-1]
		if bytes.IndexByte(name, '\\') >= 0 {
			name, _ = unquote(object[i:end])
		}
		i = afterSpace(object, afterSpace(object, end)+1) // after the colon
		end, depth := afterValue(object, i)
		shallow = shallow && depth <= plainDepth
		each(name, object[i:end])
		i = end
	}
}

// afterValue returns where the value at i has ended, and how deep it nests.
func afterValue(text []byte, i int) (end, depth int) {
	if text[i] == '"' {
		return afterString(text, i), 0
	}
	open := 0
	for i < len(text) {
		switch text[i] {
		case '"':
			i = afterString(text, i)
			continue
		case '{', '[':
			open++
			depth = max(depth, open)
		case '}', ']':
			if open == 0 {
				return i, depth // the end of what a number or a word stands in
			}
			if open--; open == 0 {
				return i + 1, depth
			}
		case ',', ' ', '\t', '\r', '\n':
			if open == 0 {
				return i, depth
			}
		}
		i++
	}
	return i, depth
}

// afterString returns where the string at i has ended.
func afterString(text []byte, i int) int {
	for i++; ; i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
}

func afterSpace(text []byte, i int) int {
	for i < len(text) && (text[i] == ' ' || text[i] == '\t' || text[i] == '\r' || text[i] == '\n') {
		i++
	}
	return i
}

// unquote decodes a string.
func unquote(raw []byte) ([]byte, error) {
	if bytes.IndexByte(raw, '\\') < 0 {
		return raw[1 : len(raw)-1], nil
	}
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return nil, err
	}
	return []byte(text), nil
}
