package web

import (
	"net/http/httptest"
	"testing"
)

// Of several parameters of one name the first counts, whatever their case (aspnetcore:
// QueryFeature.cs; host: AuthenticationLevelHandler.cs takes the first value).
func TestFirstParameter(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]string{
		"": "", "code=a": "a", "CODE=a&code=b&Code=c": "a", "x=1&code=a%2Bb+c": "a+b c", "co%64e=a": "a", "code": "", "code=a;b": "a;b", "code=100%": "100%", "codex=a": "",
	} {
		for range 20 { // a map would have another order each time
			if got := queryFold(httptest.NewRequest("GET", "/api/a?"+query, nil), "code"); got != want {
				t.Errorf("%q: %q, want %q", query, got, want)
				break
			}
		}
	}
}
