package mcp

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

func TestReadMessage(t *testing.T) {
	for text, want := range map[string]int{ // a code, 0 = taken
		`{"jsonrpc":"2.0","id":1,"method":"x"}`:                        0,
		` { "method" : "x" , "id" : "a" , "jsonrpc" : "2.0" } `:        0,
		`{"jsonrpc":"2.0","method":"x"}`:                               0,
		`{"jsonrpc":"2.0","id":1,"method":"x","new":[{"a":"}]\"\\"}]}`: 0,
		`{"jsonrpc":"2.0","\u0069d":1,"method":"x"}`:                   0,
		`{"jsonrpc":"2.0","id":1,"result":null}`:                       0,
		`{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}}`:    0,
		`{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"x"}}`: 0,
		`{bad`: jsonrpc.CodeParseError,
		`{"jsonrpc":"2.0","id":1,"method":"x"}{}`: jsonrpc.CodeParseError,
		"\xff\xfe": jsonrpc.CodeParseError,
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}": jsonrpc.CodeParseError,
		"\ufeff{}":                  jsonrpc.CodeParseError,
		strings.Repeat("[", 20_000): jsonrpc.CodeParseError,
		strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000): jsonrpc.CodeParseError,
		`null`: jsonrpc.CodeInvalidRequest,
		`[]`:   jsonrpc.CodeInvalidRequest,
		`5`:    jsonrpc.CodeInvalidRequest,
		`"x"`:  jsonrpc.CodeInvalidRequest,
		`{}`:   jsonrpc.CodeInvalidRequest,
		`[{"jsonrpc":"2.0","id":1,"method":"x"}]`:                jsonrpc.CodeInvalidRequest,
		`{"jsonrpc":"2.0"}`:                                      jsonrpc.CodeInvalidRequest,
		`{"jsonrpc":"2.0","id":1}`:                               jsonrpc.CodeInvalidRequest,
		`{"jsonrpc":"1.0","id":1,"method":"x"}`:                  jsonrpc.CodeInvalidRequest,
		`{"jsonrpc":2.0,"id":1,"method":"x"}`:                    jsonrpc.CodeInvalidRequest,
		`{"id":1,"method":"x"}`:                                  jsonrpc.CodeInvalidRequest,
		`{"jsonrpc":"2.0","id":1,"method":5}`:                    jsonrpc.CodeInvalidRequest,
		`{"jsonrpc":"2.0","id":1,"Method":"x"}`:                  jsonrpc.CodeInvalidRequest,
		`{"jsonrpc":"2.0","id":{},"method":"x"}`:                 jsonrpc.CodeInvalidRequest,
		`{"jsonrpc":"2.0","id":[1],"method":"x"}`:                jsonrpc.CodeInvalidRequest,
		`{"jsonrpc":"2.0","id":true,"method":"x"}`:               jsonrpc.CodeInvalidRequest,
		`{"jsonrpc":"2.0","id":null,"method":"x"}`:               jsonrpc.CodeInvalidRequest,
		`{"jsonrpc":"2.0","id":1.5,"method":"x"}`:                jsonrpc.CodeInvalidRequest,
		`{"jsonrpc":"2.0","id":9007199254740994,"method":"x"}`:   jsonrpc.CodeInvalidRequest,
		`{"jsonrpc":"2.0","id":1e999,"method":"x"}`:              jsonrpc.CodeInvalidRequest,
		`{"jsonrpc":"2.0","id":1,"result":1,"error":{"code":1}}`: jsonrpc.CodeInvalidRequest,
		`{"jsonrpc":"2.0","id":null,"result":1}`:                 jsonrpc.CodeInvalidRequest,
		`{"jsonrpc":"2.0","result":1}`:                           jsonrpc.CodeInvalidRequest,
	} {
		_, refused := readMessage([]byte(text))
		if got := refused; (got == nil) != (want == 0) || got != nil && got.code != want {
			t.Errorf("%.60q: %+v, want %d", text, got, want)
		}
	}
}

func TestPlainCalls(t *testing.T) {
	const form = `{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":%s}`
	for text, want := range map[string]bool{
		fmt.Sprintf(form, `7`, `{"name":"exec"}`):                                                                                       true,
		fmt.Sprintf(form, `-7`, `{"name":"exec","arguments":{}}`):                                                                       true,
		fmt.Sprintf(form, `"a\"b"`, `{"arguments":{"a":[1]},"name":"exec","other":1}`):                                                  true,
		fmt.Sprintf(form, `7`, `{"name":"exec","_meta":{"a":{"progressToken":1}}}`):                                                     true,
		fmt.Sprintf(form, `7`, `{"name":"exec","_meta":{"progressToken":null}}`):                                                        false,
		fmt.Sprintf(form, `7`, `{"name":"exec","_meta":{"progress\u0054oken":1}}`):                                                      false,
		fmt.Sprintf(form, `7`, `{"name":"exec","_meta":1}`):                                                                             false,
		fmt.Sprintf(form, `7e0`, `{"name":"exec"}`):                                                                                     false,
		fmt.Sprintf(form, `7`, `{"Name":"exec"}`):                                                                                       false,
		fmt.Sprintf(form, `7`, `{"name":""}`):                                                                                           false,
		fmt.Sprintf(form, `7`, `{"name":5}`):                                                                                            false,
		fmt.Sprintf(form, `7`, `{"name":"ex\u0065c"}`):                                                                                  false,
		fmt.Sprintf(form, `7`, `{"name":"exec","name":"process"}`):                                                                      false,
		fmt.Sprintf(form, `7`, `{"name":"exec","arguments":{},"arguments":{}}`):                                                         false,
		fmt.Sprintf(form, `7`, `{"name":"exec","arguments":null}`):                                                                      false,
		fmt.Sprintf(form, `7`, `{"name":"exec","arguments":[]}`):                                                                        false,
		fmt.Sprintf(form, `7`, `{"name":"exec","inputResponses":{}}`):                                                                   false,
		fmt.Sprintf(form, `7`, `{"name":"exec","requestState":""}`):                                                                     false,
		fmt.Sprintf(form, `7`, `["exec"]`):                                                                                              false,
		`{"jsonrpc":"2.0","id":7,"method":"tools/call"}`:                                                                                false,
		`{"jsonrpc":"2.0","method":"tools/call","params":{"name":"exec"}}`:                                                              false,
		`{"jsonrpc":"2.0","id":7,"method":"tools\/call","params":{"name":"exec"}}`:                                                      false,
		`{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{"name":"exec"}}`:                                                       false,
		`{"jsonrpc":"2.0","id":7,"id":8,"method":"tools/call","params":{"name":"exec"}}`:                                                false,
		fmt.Sprintf(form, `7`, `{"name":"exec","arguments":{"a":`+strings.Repeat("[", plainDepth)+strings.Repeat("]", plainDepth)+`}}`): false,
	} {
		m, refused := readMessage([]byte(text))
		if refused != nil {
			t.Errorf("%s: %+v", text, refused)
			continue
		}
		if _, got := m.toolCall(); got != want {
			t.Errorf("%s: plain is %v", text, got)
		}
	}
}

// What is taken is what other readers of JSON see there, and what the SDK can read.
func FuzzReadMessage(f *testing.F) {
	for _, text := range []string{
		initializeMessage, callMessage, fmt.Sprintf(benchCall, 7, benchMeta), `{bad`, `null`, `[]`, `5`, `"x"`, "\xff\xfe", `{}`, `{"jsonrpc":"2.0"}`,
		`{"jsonrpc":"1.0","id":1,"method":"x"}`, `{"jsonrpc":"2.0","id":{},"method":"x"}`, `[{"jsonrpc":"2.0","id":1,"method":"x"}]`,
		`{"jsonrpc":"2.0","\u0069d":-1e2,"method":"\u0078","params":[{"a":"\\\"}"}, 5 ]}`, strings.Repeat("[", 200),
		`{"jsonrpc":"2.0","id":"x","result":{}}`, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"\ud800"}}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		m, refused := readMessage(text)
		if refused != nil {
			if refused.code == jsonrpc.CodeParseError && json.Valid(text) && utf8.Valid(text) {
				t.Fatalf("%q: %s", text, refused.text)
			}
			return
		}
		var want map[string]json.RawMessage
		if err := json.Unmarshal(text, &want); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		for name, got := range map[string][]byte{"jsonrpc": m.version, "id": m.id, "method": m.method, "params": m.params, "result": m.result, "error": m.err} {
			if string(got) != string(want[name]) {
				t.Fatalf("%q: %s is %q, want %q", text, name, got, want[name])
			}
		}
		tc, plain := m.toolCall()
		_, _, _ = cancelledID(m.params)
		decoded, err := jsonrpc.DecodeMessage(text)
		if !plain {
			return
		}
		req, ok := decoded.(*jsonrpc.Request)
		if err != nil || !ok || req.Method != methodCallTool || req.ID != tc.key || string(req.Params) != string(m.params) {
			t.Fatalf("%q: the SDK reads %+v, %v", text, decoded, err)
		}
		var params struct{ Name string }
		if err := json.Unmarshal(m.params, &params); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
	})
}
