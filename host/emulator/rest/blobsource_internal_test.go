package rest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
)

// A client on another machine does not make this one read from its own servers.
func TestSourcesForClientsElsewhere(t *testing.T) {
	t.Parallel()
	asked := 0
	there := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked++
		fmt.Fprint(w, "secret")
	}))
	defer there.Close()
	server, _ := newFuzzBlobServer(t)
	key, err := Account{Name: DevAccount, Keys: []string{DevKey}}.served()
	if err != nil {
		t.Fatal(err)
	}
	fields := url.Values{"sp": {"cw"}, "ss": {"b"}, "srt": {"o"}, "se": {"2099-01-01T00:00:00Z"}, "sv": {"2021-12-02"}}
	fields.Set("sig", signatureOf(key.keys[0], sas{fields}.accountText(DevAccount)))
	for client, status := range map[string]int{"192.0.2.7:1": 404, "127.0.0.1:1": 201, "[::1]:1": 201} {
		r := httptest.NewRequest("PUT", "http://localhost/devstoreaccount1/box/"+fmt.Sprint(status)+"?"+fields.Encode(), nil)
		r.RemoteAddr = client
		r.Header.Set("X-Ms-Blob-Type", "BlockBlob")
		r.Header.Set("X-Ms-Copy-Source", there.URL+"/x")
		before := asked
		w := httptest.NewRecorder()
		server.ServeHTTP(w, r)
		if w.Code != status || (asked > before) != (status == 201) {
			t.Errorf("client %s: %d %s, asked %d times", client, w.Code, w.Body, asked-before)
		}
	}
}
