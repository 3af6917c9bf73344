package terminal

import (
	"encoding/hex"
	"fmt"
	"strings"
)

// HexError is an entry of Hex that is not hexadecimal: the caller's fault.
type HexError struct {
	Entry string // as given; Error shortens it

	problem string // what follows the entry in the message
}

// Error names the entry and says what is wrong with it.
func (e *HexError) Error() string { return fmt.Sprintf("hex entry %q%s", clip(e.Entry), e.problem) }

// Hex reads bytes written as hexadecimal: "1b", "0x1b", "1b5b41", or several
// of these with spaces between. The first entry that is not so written is a
// *HexError that names it, and no bytes are returned.
func Hex(list []string) ([]byte, error) {
	var out []byte
	for _, entry := range list {
		words := strings.Fields(entry)
		if len(words) == 0 {
			return nil, &HexError{entry, " is empty: write two digits for each byte, such as 1b"}
		}
		for _, word := range words {
			digits := word
			if len(word) > 2 && word[0] == '0' && word[1]|0x20 == 'x' {
				digits = word[2:]
			}
			if i := strings.IndexFunc(digits, notHex); i >= 0 {
				return nil, &HexError{entry, fmt.Sprintf(": %q is not a hexadecimal digit", []rune(digits[i:])[0])}
			}
			if len(digits)%2 != 0 {
				return nil, &HexError{entry, " has an odd number of digits: write two for each byte"}
			}
			b, err := hex.DecodeString(digits)
			if err != nil {
				return nil, &HexError{entry, ": " + err.Error()}
			}
			out = append(out, b...)
		}
	}
	return out, nil
}

func notHex(r rune) bool { return !strings.ContainsRune("0123456789abcdefABCDEF", r) }

// clip shortens foreign text for an error message.
func clip(s string) string {
	const most = 40
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "..."
}
