package oracle

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"openclaw/internal/policy"
)

// oneCase is what the oracle needs of a case (P-70).
type oneCase struct {
	ID, Family, Command string
	Setup               struct {
		Allowlist []struct {
			Pattern, ArgPattern string
		}
		SafeBins, SafeBinTrustedDirs []string
		SafeBinProfiles              map[string]policy.Profile
		StrictInlineEval             bool
		Files                        []struct {
			Path, Content, Mode string
		}
		Env, RequestEnv map[string]string
	}
	Expect struct{ Allowed bool }
}

func testdata(name string) string { return filepath.Join("..", "policy", "testdata", name) }

func readCases(t *testing.T) []oneCase {
	t.Helper()
	var all []oneCase
	for _, name := range []string{"policy.json", "safebin.json"} {
		data, err := os.ReadFile(testdata(name))
		must(t, err)
		var some []oneCase
		must(t, json.Unmarshal(data, &some))
		all = append(all, some...)
	}
	return all
}

// readLines are the commands of a text file of the judge's, one a line, in which \n and
// the like may stand for themselves.
func readLines(t *testing.T, name string) []string {
	t.Helper()
	data, err := os.ReadFile(testdata(name))
	must(t, err)
	unescape := strings.NewReplacer(`\n`, "\n", `\r`, "\r", `\0`, "\x00", `\u200b`, "\u200b", `\u202e`, "\u202e", `\u2028`, "\u2028",
		`\u0085`, "\u0085", `\x1b`, "\x1b", `\u00a0`, "\u00a0", `\\`, `\`)
	var list []string
	for line := range strings.Lines(string(data)) {
		if line = unescape.Replace(strings.TrimSuffix(line, "\n")); line != "" {
			list = append(list, line)
		}
	}
	return list
}
