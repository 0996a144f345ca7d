package cosmos

import (
	"encoding/json"
	"testing"
)

// FuzzParseDraft: no document panics, and what is taken is JSON.
func FuzzParseDraft(f *testing.F) {
	f.Add([]byte(`{"id":"7","customer":{"id":"a"}}`), "customer")
	f.Add([]byte(`{"":1,"id":"\ud800","_etag":5,"ttl":-1}`), "")
	f.Fuzz(func(t *testing.T, text []byte, member string) {
		if _, err := parseDraft(text, []string{member, "id"}); err == nil && !json.Valid(text) {
			t.Errorf("%q is taken", text)
		}
	})
}
