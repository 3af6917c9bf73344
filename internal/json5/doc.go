// Package json5 reads JSON5 (https://spec.json5.org) into a tree that remembers where
// every value, key and comma stands in the source, so that one value can be replaced
// later while comments and layout around it stay as they are.
//
// It is stricter than JSON5 in four ways, because the files it reads decide what may
// run and must not have two meanings: a key may stand only once in an object, the text
// must be valid UTF-8, escapes must not leave half of a surrogate pair, and nesting
// ends at MaxDepth. The package opens no file and never changes its input.
package json5
