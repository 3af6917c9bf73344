package redact

import (
	"strings"
	"testing"
)

func TestA23Text(t *testing.T) {
	const s = "hunter2secretvalue"
	for _, in := range []string{
		"TOKEN=" + s + " make", `export API_KEY="` + s + `"`, "curl -H 'Authorization: Bearer " + s + "' x",
		"deploy --password " + s, "deploy --api-key=" + s, "git clone https://user:" + s + "@host/r",
		`{"client_secret": "` + s + `"}`, "echo ghp_" + s, "x AKIA" + s, "MYSQL_PWD_PASSWORD='" + s + "'",
	} {
		if got := Text(in); strings.Contains(got, s) {
			t.Errorf("%q left the secret in: %q", in, got)
		}
	}
	for _, in := range []string{"ls -la", "git commit -m 'add author'", "make test", "echo a=b", "grep -r pattern ."} {
		if got := Text(in); got != in {
			t.Errorf("%q was changed to %q", in, got)
		}
	}
}

func FuzzText(f *testing.F) {
	f.Add("PASSWORD=a b")
	f.Fuzz(func(t *testing.T, s string) { Text(s) })
}
