package json5

import (
	"strconv"
	"unicode"
)

// PathKey appends an object key to a key path: ("tools", "exec") gives "tools.exec",
// and a key that is not a plain word is quoted: ("a", "b.c") gives `a["b.c"]`.
func PathKey(path, key string) string {
	if !plainKey(key) {
		return path + "[" + strconv.Quote(key) + "]"
	}
	if path == "" {
		return key
	}
	return path + "." + key
}

// PathIndex appends an array index to a key path: ("agents.list", 0) gives
// "agents.list[0]".
func PathIndex(path string, index int) string {
	return path + "[" + strconv.Itoa(index) + "]"
}

func plainKey(key string) bool {
	for _, r := range key {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' && r != '$' && r != '-' {
			return false
		}
	}
	return key != ""
}
