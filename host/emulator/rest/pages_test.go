package rest_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/redeliver/redeliver/bindings/storage"
	"github.com/redeliver/redeliver/host/emulator/rest"
)

// shared makes the URL of a request by a signature: with the key that everybody knows,
// any page can make one.
func (b *bench) shared(service, path string) string {
	base := b.server.QueueURL()
	if service == "b" {
		base = b.server.BlobURL()
	}
	return base + "/" + rest.DevAccount + path + "?" + fullAccount.account(b.T, rest.DevKey)
}

// visit sends a request as a browser would, with these headers.
func (b *bench) visit(method, url, body string, headers ...string) answer {
	b.Helper()
	r, err := http.NewRequestWithContext(b.Context(), method, url, strings.NewReader(body))
	if err != nil {
		b.Fatal(err)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		if name == "Host" {
			r.Host = value
			continue
		}
		r.Header.Set(name, value)
	}
	return b.send(r)
}

// A page of another origin, with the key that everybody knows: what it sends changes
// nothing, and shows it nothing, unless a rule of the service names its origin.
func TestPagesOfOtherOrigins(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(s *setup) { s.rest.BlobPort = 0 })
	b.create("orders")
	b.put("orders", "one")
	b.do(func(ctx context.Context) {
		if _, err := b.storage.Container("files").Create(ctx, nil); err != nil {
			t.Error(err)
		}
		if _, err := b.storage.Container("files").Blob("a.txt").Put(ctx, strings.NewReader("text"), nil); err != nil {
			t.Error(err)
		}
	})
	messages, blob := b.shared("q", "/orders/messages"), b.shared("b", "/files/a.txt")
	const text = "<QueueMessage><MessageText>evil</MessageText></QueueMessage>"
	own := strings.TrimSuffix(b.endpoint, "/"+rest.DevAccount)
	for _, row := range []struct {
		name, method, url, body string
		headers                 []string
		status                  int
	}{
		{"a form of another origin", "POST", messages, text, []string{"Origin: http://evil.example", "Content-Type: text/plain"}, 403},
		{"a sandboxed form", "POST", messages, text, []string{"Origin: null"}, 403},
		{"a form of another port", "POST", messages, text, []string{"Origin: http://127.0.0.1:3000", "Sec-Fetch-Site: same-site"}, 403},
		{"an image that takes a message", "GET", messages, "", []string{"Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: no-cors"}, 403},
		{"an image of another port", "GET", messages, "", []string{"Sec-Fetch-Site: same-site", "Sec-Fetch-Mode: no-cors"}, 403},
		{"a rebound name", "GET", messages, "", []string{"Host: evil.example:10001"}, 403},
		{"a rebound name of its own origin", "POST", messages, text, []string{"Host: evil.example:10001", "Origin: http://evil.example:10001", "Sec-Fetch-Site: same-origin"}, 403},
		{"a rebound account", "GET", messages, "", []string{"Host: devstoreaccount1.evil.example"}, 403},
		{"a browser at a name that it trusts nothing of", "GET", messages, "", []string{"Host: host.docker.internal:10001", "User-Agent: Mozilla/5.0 (X11; Linux x86_64)"}, 403},
		{"a blob for another origin", "GET", blob, "", []string{"Origin: http://evil.example"}, 403},
		{"a blob as an image", "GET", blob, "", []string{"Sec-Fetch-Site: cross-site", "Referer: http://evil.example/"}, 403},
		{"a blob as an image, in a browser that says less", "GET", blob, "", []string{"Referer: http://evil.example/"}, 403},
		{"a message of a browser that says less", "POST", messages, text, []string{"Referer: http://evil.example/"}, 403},
		{"a blob to delete", "DELETE", blob, "", []string{"Origin: http://evil.example"}, 403},

		{"an SDK", "GET", blob, "", nil, 200},
		{"an SDK in a container", "GET", blob, "", []string{"Host: host.docker.internal:10000"}, 200},
		{"an account in the name", "GET", strings.Replace(blob, "/"+rest.DevAccount, "", 1), "", []string{"Host: devstoreaccount1.blob.localhost:10000"}, 200},
		{"the address bar", "GET", blob, "", []string{"Sec-Fetch-Site: none", "User-Agent: Mozilla/5.0"}, 200},
		{"the service's own page", "GET", blob, "", []string{"Sec-Fetch-Site: same-origin"}, 200},
		{"its own origin", "POST", messages, text, []string{"Origin: " + own, "Sec-Fetch-Site: same-origin"}, 201},
	} {
		if a := b.visit(row.method, row.url, row.body, row.headers...); a.Status != row.status || row.status == 403 && a.Header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s: %d %s %v, want %d\n%s", row.name, a.Status, a.Code, a.Header, row.status, a.Body)
		}
	}
	if ms := b.want(200, "", "GET", "/orders/messages?numofmessages=32", "").messages(t); len(ms) != 2 || *ms[0].DequeueCount != 1 {
		t.Errorf("messages = %+v, want the message put here, delivered once, and the message of the own origin", ms)
	}

	// A rule admits the pages of its origin, also pages that only show a blob, and no
	// others.
	b.do(func(ctx context.Context) {
		p := storage.ServiceProperties{CORS: &[]storage.CORSRule{{AllowedOrigins: "http://shop.example", AllowedMethods: "GET", MaxAge: 1}}}
		if err := b.storage.SetQueueServiceProperties(ctx, p); err != nil {
			t.Error(err)
		}
		if err := b.storage.SetBlobServiceProperties(ctx, &p); err != nil {
			t.Error(err)
		}
	})
	for _, row := range []struct {
		name, method, url string
		headers           []string
		status            int
	}{
		{"by a rule", "GET", blob, []string{"Origin: http://shop.example", "Sec-Fetch-Site: cross-site"}, 200},
		{"an image by a rule", "GET", blob, []string{"Referer: http://shop.example/page", "Sec-Fetch-Site: cross-site"}, 200},
		{"an image of somebody else", "GET", blob, []string{"Referer: http://evil.example/", "Sec-Fetch-Site: cross-site"}, 403},
		{"an image by a rule, in a browser that says less", "GET", blob, []string{"Referer: http://shop.example/page"}, 200},
		{"an image of nobody", "GET", blob, []string{"Sec-Fetch-Site: cross-site"}, 403},
		{"a method that the rule has not", "DELETE", blob, []string{"Origin: http://shop.example"}, 403},
		{"another origin", "GET", blob, []string{"Origin: http://evil.example"}, 403},
		{"messages by a rule", "GET", messages, []string{"Origin: http://shop.example"}, 200},
		// It may have been led here by somebody else's redirect.
		{"messages as an image", "GET", messages, []string{"Referer: http://shop.example/page", "Sec-Fetch-Site: cross-site"}, 403},
	} {
		if a := b.visit(row.method, row.url, "", row.headers...); a.Status != row.status {
			t.Errorf("%s: %d %s, want %d\n%s", row.name, a.Status, a.Code, row.status, a.Body)
		}
	}
}
