package main

import (
	"strings"
	"testing"
)

func TestRun(t *testing.T) {
	for _, tt := range []struct {
		name string
		in   []string
		want []string // in this order
		last string
		code int
	}{
		{
			name: "all pass",
			in: []string{
				`{"Action":"run","Package":"p","Test":"TestA"}`,
				`{"Action":"output","Package":"p","Test":"TestA","Output":"chatter\n"}`,
				`{"Action":"pass","Package":"p","Test":"TestA"}`,
				`{"Action":"pass","Package":"p","Elapsed":1.25}`,
				`{"Action":"skip","Package":"empty"}`,
			},
			want: []string{"ok    p (1.2s)\n"},
			last: "1 passed, 0 failed, 0 skipped",
		},
		{
			name: "failure is shown in full, skip with its reason",
			in: []string{
				`{"Action":"output","Package":"p","Test":"TestB","Output":"=== RUN   TestB\n"}`,
				`{"Action":"output","Package":"p","Test":"TestB","Output":"    b_test.go:7: needs zsh\n"}`,
				`{"Action":"output","Package":"p","Test":"TestB","Output":"--- SKIP: TestB (0.00s)\n"}`,
				`{"Action":"skip","Package":"p","Test":"TestB"}`,
				`{"Action":"output","Package":"p","Test":"TestA","Output":"first\n"}`,
				`{"Action":"output","Package":"p","Test":"TestA","Output":"second\n"}`,
				`{"Action":"fail","Package":"p","Test":"TestA"}`,
				`{"Action":"fail","Package":"p"}`,
			},
			want: []string{"FAIL  p TestA\nfirst\nsecond\n", "FAIL  p (0.0s)\n", "skipped: p TestB: needs zsh\n"},
			last: "0 passed, 1 failed, 1 skipped",
			code: 1,
		},
		{
			name: "build failure",
			in: []string{
				`{"ImportPath":"p [p.test]","Action":"build-output","Output":"p.go:1: syntax error\n"}`,
				`{"ImportPath":"p [p.test]","Action":"build-fail"}`,
				`{"Action":"output","Package":"p","Output":"FAIL\tp [build failed]\n"}`,
				`{"Action":"fail","Package":"p","FailedBuild":"p [p.test]"}`,
			},
			want: []string{"FAIL  p (0.0s)\np.go:1: syntax error\nFAIL\tp [build failed]\n"},
			last: "0 passed, 1 failed, 0 skipped",
			code: 1,
		},
		{
			name: "process ends within a test",
			in: []string{
				`{"Action":"run","Package":"p","Test":"TestA"}`,
				`{"Action":"output","Package":"p","Test":"TestA","Output":"before\n"}`,
				`{"Action":"output","Package":"p","Output":"exit status 3\n"}`,
				`{"Action":"fail","Package":"p"}`,
			},
			want: []string{"FAIL  p TestA\nbefore\n(the test did not end)\n", "exit status 3\n"},
			last: "0 passed, 1 failed, 0 skipped",
			code: 1,
		},
		{
			name: "input ends in the middle",
			in: []string{
				`{"Action":"output","Package":"p","Output":"odd\n"}`,
				`{"Action":"run","Package":"p","Test":"TestA"}`,
			},
			want: []string{"FAIL  p TestA\n", "odd\n"},
			last: "0 passed, 1 failed, 0 skipped",
			code: 1,
		},
		{
			name: "other text is passed on, no test is a failure",
			in:   []string{"go: something", "{not an event"},
			want: []string{"go: something\n", "{not an event\n", "no test ran\n"},
			last: "0 passed, 0 failed, 0 skipped",
			code: 1,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var out strings.Builder
			code := run(strings.NewReader(strings.Join(tt.in, "\n")), &out)
			if code != tt.code {
				t.Errorf("exit code %d", code)
			}
			rest := out.String()
			for _, want := range tt.want {
				_, behind, ok := strings.Cut(rest, want)
				if !ok {
					t.Fatalf("no %q in order in:\n%s", want, out.String())
				}
				rest = behind
			}
			if !strings.HasSuffix(out.String(), "\n"+tt.last+"\n") {
				t.Errorf("ends with:\n%s", out.String())
			}
		})
	}
}
