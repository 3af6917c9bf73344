package identity

import "testing"

// Whatever is in the file, it is refused or every token of it is well formed.
func FuzzParseDocument(f *testing.F) {
	f.Add([]byte(`{"version":1,"tokens":[{"id":"ab","agent":"main","session":"main","label":"","createdAtMs":1,"sha256":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"}]}`))
	f.Add([]byte(`{"version":1,"tokens":null}`))
	f.Add([]byte(`{"version":1}{}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		doc, err := parseDocument(data)
		if err != nil {
			return
		}
		seen := map[string]bool{}
		for _, e := range doc.Tokens {
			if e.ID == DefaultID || seen[e.ID] || !agentPattern.MatchString(e.Agent) || len(e.SHA256) != 64 {
				t.Errorf("accepted %+v", e)
			}
			seen[e.ID] = true
		}
	})
}
