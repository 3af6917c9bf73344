package session

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"
)

// decoding replaces invalid bytes and only these, wherever a stream is cut.
func FuzzText(f *testing.F) {
	for _, s := range []string{"", "a", "\u4e2d", "\xe4\xb8", "\xf0\x9f\x98", "\x80\x80\x80\x80", "a\xffb", "\U0001F600\xe4", "\xed\xa0\x80"} {
		f.Add([]byte(s), 1, 2)
	}
	f.Fuzz(func(t *testing.T, b []byte, cut, n int) {
		want := strings.ToValidUTF8(decode(b), "!")
		if decode(b) != want || utf8.Valid(b) && decode(b) != string(b) {
			t.Fatalf("decode %q is %q", b, decode(b))
		}
		if utf8.RuneCount(b) != utf8.RuneCountInString(decode(b)) {
			t.Fatalf("decode %q has another count of characters", b)
		}
		held := incomplete(b)
		if held < 0 || held > 3 || held > len(b) {
			t.Fatalf("incomplete %q is %d", b, held)
		}
		cut = min(max(cut, 0), len(b))
		first := cut - incomplete(b[:cut])
		if decode(b[:first])+decode(b[first:]) != decode(b) {
			t.Fatalf("%q cut at %d loses a character", b, cut)
		}
		if c := continuation(b); c < 0 || c > 3 || c > len(b) {
			t.Fatalf("continuation %q is %d", b, c)
		}
		n = min(max(n, 0), len(b)+1)
		h, l := firstRunes(b, n), lastRunes(b, n)
		if !bytes.HasPrefix(b, h) || !bytes.HasSuffix(b, l) || utf8.RuneCount(h) > n || utf8.RuneCount(l) > n {
			t.Fatalf("first %q and last %q %d characters of %q", h, l, n, b)
		}
		if utf8.RuneCount(b) > 2*n && len(h)+len(l) > len(b) {
			t.Fatalf("first and last %d characters of %q overlap", n, b)
		}
		if decode(h)+decode(b[len(h):]) != decode(b) || decode(b[:len(b)-len(l)])+decode(l) != decode(b) {
			t.Fatalf("first or last %d characters of %q are cut inside one", n, b)
		}
	})
}

func TestX4_Incomplete(t *testing.T) {
	for s, want := range map[string]int{
		"": 0, "a": 0, "\u4e2d": 0, "\xe4": 1, "a\xe4\xb8": 2, "\xf0\x9f\x98": 3, "\xb8": 0, "\xff": 0, "\xe4a": 0, "\xc0": 0,
	} {
		if got := incomplete([]byte(s)); got != want {
			t.Errorf("incomplete(%q) = %d, want %d", s, got, want)
		}
	}
}
