package json5

import (
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"
)

// num keeps the tables short.
func num(s string) json.Number { return json.Number(s) }

// accepted holds one input for each rule of the JSON5 grammar, with its value.
var accepted = []struct {
	name, src string
	want      any
}{
	{"empty object", `{}`, map[string]any{}},
	{"empty array", `[]`, []any{}},
	{"null", `null`, nil},
	{"true", `true`, true},
	{"false", ` false `, false},
	{"byte order mark", "\ufeff{a:1}", map[string]any{"a": num("1")}},
	{"trailing comma in object", `{a:1,}`, map[string]any{"a": num("1")}},
	{"trailing comma in array", `[1,]`, []any{num("1")}},
	{"line comment", "// x\n1 // y", num("1")},
	{"block comment", "/* x\n * y **/1/**/", num("1")},
	{"comment ended by U+2028", "// x\u20281", num("1")},
	{"all white space", "\t\v\f \u00a0\ufeff\n\r\u2028\u2029\u2003[\u30001]", []any{num("1")}},

	{"unquoted keys", `{a:1,$b_2:2,ünïcode:3}`, map[string]any{"a": num("1"), "$b_2": num("2"), "ünïcode": num("3")}},
	{"key with escapes", `{\u0061b:1,c\u0064:2}`, map[string]any{"ab": num("1"), "cd": num("2")}},
	{"key with joiner", "{a\u200cb:1}", map[string]any{"a\u200cb": num("1")}},
	{"reserved words as keys", `{null:1,true:2,NaN:3,Infinity:4,while:5}`, map[string]any{"null": num("1"), "true": num("2"), "NaN": num("3"), "Infinity": num("4"), "while": num("5")}},
	{"quoted keys", `{'a b':1,"":2,"\x41":3}`, map[string]any{"a b": num("1"), "": num("2"), "A": num("3")}},
	{"proto key", `{__proto__:1}`, map[string]any{"__proto__": num("1")}},

	{"double quotes", `"it's"`, "it's"},
	{"single quotes", `'say "x"'`, `say "x"`},
	{"simple escapes", `'\b\f\n\r\t\v\0\\\'\"'`, "\b\f\n\r\t\v\x00\\'\""},
	{"hex escape", `'\x41\xe9'`, "Aé"},
	{"unicode escape", `'\u00e9\uD83D\uDE00'`, "é😀"},
	{"other escapes stand for themselves", `'\a\q\/\$\é'`, "aq/$é"},
	{"line continuations", "'a\\\nb\\\r\nc\\\rd\\\u2028e\\\u2029f'", "abcdef"},
	{"raw tab and separators", "'\t\u2028\u2029'", "\t\u2028\u2029"},
	{"NUL escape before a letter", `'\0a'`, "\x00a"},

	{"integer", `10`, num("10")},
	{"plus", `+1`, num("1")},
	{"minus", `-1`, num("-1")},
	{"zero", `0`, num("0")},
	{"minus zero", `-0`, num("-0")},
	{"leading point", `.5`, num("0.5")},
	{"signed leading point", `-.5`, num("-0.5")},
	{"trailing point", `5.`, num("5")},
	{"trailing point, exponent", `5.e2`, num("5e2")},
	{"exponent", `1.5E-3`, num("1.5E-3")},
	{"hexadecimal", `0xC8`, num("200")},
	{"negative hexadecimal", `-0Xff`, num("-255")},
	{"large hexadecimal", `0xFFFFFFFFFFFFFFFFFF`, num("4722366482869645213695")},
	{"large integer", `12345678901234567890`, num("12345678901234567890")},
	{"infinity", `Infinity`, math.Inf(1)},
	{"minus infinity", `-Infinity`, math.Inf(-1)},
	{"plus infinity", `+Infinity`, math.Inf(1)},

	{"nested", `{a:[{b:[[1,'x']]},2],}`, map[string]any{"a": []any{map[string]any{"b": []any{[]any{num("1"), "x"}}}, num("2")}}},
}

func TestAccepted(t *testing.T) {
	for _, tt := range accepted {
		t.Run(tt.name, func(t *testing.T) {
			root, err := Parse([]byte(tt.src))
			if err != nil {
				t.Fatalf("Parse(%q): %v", tt.src, err)
			}
			if got := root.Value(); !reflect.DeepEqual(got, tt.want) {
				t.Errorf("Parse(%q) = %#v, want %#v", tt.src, got, tt.want)
			}
		})
	}
}

func TestNaN(t *testing.T) {
	for _, src := range []string{"NaN", "-NaN", "+NaN"} {
		root, err := Parse([]byte(src))
		if err != nil {
			t.Fatal(err)
		}
		if f, ok := root.Value().(float64); !ok || !math.IsNaN(f) {
			t.Errorf("Parse(%q) = %v", src, root.Value())
		}
	}
}

// refused holds what is not JSON5 with the whole error text.
var refused = []struct{ name, src, want string }{
	{"empty", ``, `1:1: expected a value, found end of file`},
	{"only a comment", "// x\n", `2:1: expected a value, found end of file`},
	{"two values", "1 2", `1:3: expected nothing after the value, found "2"`},
	{"word", `{a: yes}`, `1:5: a: expected a value, found "yes"`},
	{"escaped literal", `tr\u0075e`, `1:1: expected a value, found "tr\\u0075e"`},
	{"missing value", `{a:}`, `1:4: a: expected a value, found "}"`},
	{"missing colon", `{a 1}`, `1:4: a: expected ":" after the key, found "1"`},
	{"missing comma", "{\n  a: 1\n  b: 2\n}", `3:3: expected "," or "}", found "b"`},
	{"missing comma in array", `{l: [1 2]}`, `1:8: l: expected "," or "]", found "2"`},
	{"unclosed object", `{a:1`, `1:5: expected "," or "}", found end of file`},
	{"unclosed array", `[[1]`, `1:5: expected "," or "]", found end of file`},
	{"wrong bracket", `[1}`, `1:3: expected "," or "]", found "}"`},
	{"double comma", `[1,,2]`, `1:4: [1]: expected a value, found ","`},
	{"lone comma", `{,}`, `1:2: expected a key or "}", found ","`},
	{"number as key", `{1:2}`, `1:2: expected a key or "}", found "1"`},
	{"hyphen in key", `{a-b:1}`, `1:4: expected a digit, found "b"`},
	{"unknown character", `{a: @}`, `1:5: a: expected a value, a key or punctuation, found "@"`},

	{"unclosed string", `"abc`, `1:5: expected the closing ", found end of file`},
	{"line end in string", "{a: 'x\n'}", `1:7: a: expected the closing ', found end of line`},
	{"backslash at the end", `'\`, `1:3: expected a character after the backslash, found end of file`},
	{"short hex escape", `'\x4'`, `1:5: expected a hexadecimal digit, found "'"`},
	{"short unicode escape", `'\u12g4'`, `1:6: expected a hexadecimal digit, found "g"`},
	{"octal escape", `'\1'`, `1:2: expected an escape of JSON5, found \1`},
	{"digit after NUL", `'\01'`, `1:4: expected no digit after \0, found "1"`},
	{"lone surrogate", `'\uD83Dx'`, `1:2: expected both halves of a surrogate pair, found \uD83D`},
	{"low surrogate", `'\uDE00'`, `1:2: expected both halves of a surrogate pair, found \uDE00`},
	{"wrong pair", `'\uD83D\u0041'`, `1:2: expected both halves of a surrogate pair, found \uD83D\u0041`},
	{"key escape that is no letter", `{a\u0020:1}`, `1:3: expected an escape for a letter or digit, found \u0020`},
	{"key escape that starts with a digit", `{\u0031:1}`, `1:2: expected an escape for a letter or digit, found \u0031`},
	{"key with hex escape", `{\x41:1}`, `1:3: expected "u" and four hexadecimal digits, found "x"`},

	{"leading zero", `010`, `1:2: expected no digit after a leading 0, found "1"`},
	{"lone point", `.`, `1:2: expected a digit, found end of file`},
	{"lone sign", `- 1`, `1:2: expected a digit, found " "`},
	{"two signs", `+-1`, `1:2: expected a digit, found "-"`},
	{"empty hexadecimal", `0x`, `1:3: expected a hexadecimal digit, found end of file`},
	{"empty exponent", `1e+`, `1:4: expected a digit of the exponent, found end of file`},
	{"letters after a number", `1a`, `1:2: expected the end of the number, found "a"`},
	{"two points", `1.2.3`, `1:4: expected the end of the number, found "."`},
	{"fraction of hexadecimal", `0x1.5`, `1:4: expected the end of the number, found "."`},

	{"unclosed comment", "1\n/* x", `2:1: expected "*/" that ends this comment, found end of file`},
	{"lone slash", `/ x`, `1:2: expected "//" or "/*", found " "`},
	{"hash comment", "# x\n1", `1:1: expected a value, a key or punctuation, found "#"`},

	{"duplicate key", "{tools: {\n  a: 1,\n  'a': 2}}", `3:3: tools.a: expected each key once, found "a" again (first on line 2)`},
	{"duplicate by escape", `{a:1,\u0061:2}`, `1:6: a: expected each key once, found "a" again (first on line 1)`},
	{"column counts characters", `{"äöü😀": x}`, `1:10: ["äöü😀"]: expected a value, found "x"`},
	{"column after a byte order mark", "\ufeff{a: x}", `1:5: a: expected a value, found "x"`},
	{"CR and CR LF lines", "{\r\n a: 1,\r b: x}", `3:5: b: expected a value, found "x"`},
	{"invalid UTF-8", "{a: '\xff'}", `1:6: expected UTF-8 text, found byte 0xff`},
	{"path", `{agents: {list: [{}, {"a.b": x}]}}`, `1:30: agents.list[1]["a.b"]: expected a value, found "x"`},
}

func TestRefused(t *testing.T) {
	for _, tt := range refused {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Parse([]byte(tt.src))
			var e *Error
			if !errors.As(err, &e) {
				t.Fatalf("Parse(%q) = %v, want an *Error", tt.src, err)
			}
			if e.Error() != tt.want {
				t.Errorf("Parse(%q):\n got %s\nwant %s", tt.src, e, tt.want)
			}
		})
	}
}

func TestDepth(t *testing.T) {
	deep := func(n int) []byte { return []byte(strings.Repeat("[", n) + strings.Repeat("]", n)) }
	if _, err := Parse(deep(MaxDepth)); err != nil {
		t.Errorf("%d levels: %v", MaxDepth, err)
	}
	_, err := Parse(deep(MaxDepth + 1))
	if err == nil || !strings.Contains(err.Error(), "at most 100 levels of nesting") {
		t.Errorf("%d levels: %v", MaxDepth+1, err)
	}
	if _, err := Parse([]byte(strings.Repeat("{a:", 1_000_000))); err == nil {
		t.Error("a million levels accepted")
	}
}

func TestSpansAndLookup(t *testing.T) {
	const src = "{\n  // one\n  \"a\": {b: [1, 0x2,]}, /* two */ c: 'x'\n}"
	root, err := Parse([]byte(src))
	if err != nil {
		t.Fatal(err)
	}
	second := root.Lookup("a", "b", "1")
	if second == nil || string(second.Source()) != "0x2" {
		t.Fatalf("Lookup(a, b, 1) = %v", second)
	}
	if src[second.Comma] != ',' || root.Lookup("c").Comma != -1 {
		t.Error("comma offsets are wrong")
	}
	if m := root.Get("a"); src[m.KeyStart:m.KeyEnd] != `"a"` || src[m.Value.Comma] != ',' {
		t.Error("key span is wrong")
	}
	if line, column := root.Position(second.Start); line != 3 || column != 16 {
		t.Errorf("Position = %d:%d", line, column)
	}
	var comments []string
	for _, c := range root.Comments() {
		comments = append(comments, src[c.Start:c.End])
	}
	if want := []string{"// one", "/* two */"}; !reflect.DeepEqual(comments, want) {
		t.Errorf("Comments = %q", comments)
	}
	for _, path := range [][]string{{"z"}, {"a", "b", "2"}, {"a", "b", "-1"}, {"a", "b", "x"}, {"c", "d"}} {
		if n := root.Lookup(path...); n != nil {
			t.Errorf("Lookup(%q) = %s", path, n.Source())
		}
	}
}

func TestIntAndFloat(t *testing.T) {
	tests := []struct {
		src   string
		i     int64
		isInt bool
		f     float64
	}{
		{"9223372036854775807", math.MaxInt64, true, math.MaxInt64},
		{"9223372036854775808", 0, false, 1 << 63},
		{"-0x10", -16, true, -16},
		{"0xFFFFFFFFFFFFFFFF", 0, false, math.MaxUint64},
		{"1e3", 1000, true, 1000},
		{"5.", 5, true, 5},
		{"+7", 7, true, 7},
		{"1.5", 0, false, 1.5},
		{"1e999", 0, false, math.Inf(1)},
		{"-Infinity", 0, false, math.Inf(-1)},
	}
	for _, tt := range tests {
		root, err := Parse([]byte(tt.src))
		if err != nil {
			t.Fatal(err)
		}
		i, ok := root.Int()
		f, isNumber := root.Float()
		if i != tt.i || ok != tt.isInt || f != tt.f || !isNumber {
			t.Errorf("%s: Int %d %v, Float %v", tt.src, i, ok, f)
		}
	}
}

func TestPaths(t *testing.T) {
	for want, got := range map[string]string{
		"a":                       PathKey("", "a"),
		"tools.exec":              PathKey("tools", "exec"),
		`a["b.c"]`:                PathKey("a", "b.c"),
		`a[""]`:                   PathKey("a", ""),
		"agents.list[0].id":       PathKey(PathIndex("agents.list", 0), "id"),
		"agents.entries.my-agent": PathKey("agents.entries", "my-agent"),
	} {
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
