package httpcall_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/redeliver/redeliver/host/emulator/durable/httpcall"
)

// serve answers requests, and says which it got: method, path, headers, content.
func serve(t *testing.T, answer http.HandlerFunc) (url string, got func() string) {
	t.Helper()
	seen := make(chan string, 10)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var headers []string
		for name, list := range r.Header {
			headers = append(headers, name+"="+strings.Join(list, ","))
		}
		slices.Sort(headers)
		seen <- fmt.Sprintf("%s %s %v %s", r.Method, r.URL.RequestURI(), headers, body)
		answer(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL, func() string {
		var all []string
		for len(seen) > 0 {
			all = append(all, <-seen)
		}
		return strings.Join(all, "; ")
	}
}

func ok(http.ResponseWriter, *http.Request) {}

// 6.5: what is sent.
func TestRequests(t *testing.T) {
	t.Parallel()
	for request, want := range map[string]string{
		`"method":"GET","uri":"{url}"`: `GET / [] `,
		`"method":"get","uri":"{url}/a?q=ü b#frag","headers":null,"content":null,"tokenSource":null`:                                              `GET /a?q=%C3%BC%20b [] `,
		`"method":"POST","uri":"{url}/","content":"plain"`:                                                                                        `POST / [Content-Length=5 Content-Type=text/plain] plain`,
		`"method":"PUT","uri":"{url}/","content":"{}","headers":{"content-type":"application/json","X-a":["1","2"],"user-agent":"me"}`:            `PUT / [Content-Length=2 Content-Type=application/json User-Agent=me X-A=1,2] {}`,
		`"method":"GET","uri":"{url}/","headers":{"Content-Type":"a/b","Content-Length":"9","bad name":"1","x":"a\r\nb","Transfer-Encoding":"x"}`: `GET / [] `,
	} {
		url, got := serve(t, ok)
		if _, failure := httpcall.Do(context.Background(), "{"+strings.ReplaceAll(request, "{url}", url)+"}"); failure != nil {
			t.Errorf("%s: %v", request, failure)
		}
		if text := got(); text != want {
			t.Errorf("%s\nsends %s\nwant  %s", request, text, want)
		}
	}
}

// 6.5: what the orchestrator is told of an answer.
func TestAnswers(t *testing.T) {
	t.Parallel()
	url, _ := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		h := w.Header()
		h["x-custom"], h["X-OTHER"], h["location"], h["Date"] = []string{"1"}, []string{"a", "b"}, []string{"/x"}, nil
		h["Content-Type"], h["Last-Modified"] = []string{"text/html"}, []string{"now"}
		w.WriteHeader(http.StatusTeapot)
		w.(http.Flusher).Flush() // so that it comes in chunks
		_, _ = io.WriteString(w, "\ufeffa\xffb")
	})
	got, failure := httpcall.Do(context.Background(), `{"method":"GET","uri":"`+url+`"}`)
	const want = `{"statusCode":418,"headers":{"Location":"/x","Transfer-Encoding":"chunked","X-OTHER":["a","b"],"x-custom":"1"},"content":"a` + "\ufffd" + `b"}`
	if got != want || failure != nil {
		t.Errorf("%s %v, want\n%s", got, failure, want)
	}
}

// 6.5: redirections are followed, without Authorization.
func TestRedirections(t *testing.T) {
	t.Parallel()
	url, got := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/1" {
			w.Header()["x-one"] = []string{"1"}
			http.Redirect(w, r, "/2", http.StatusFound)
		}
		w.Header()["X-oNe"] = []string{"2"}
	})
	answer, failure := httpcall.Do(context.Background(), `{"method":"POST","uri":"`+url+`/1","headers":{"authorization":"secret","x-a":"1"},"content":"c"}`)
	if text := got(); failure != nil || !strings.Contains(text, "; GET /2 [X-A=1] ") || !strings.Contains(answer, `"X-oNe":"2"`) {
		t.Errorf("%s %v, sent %s", answer, failure, text)
	}
}

// 6.5: how a request fails.
func TestFailures(t *testing.T) {
	t.Parallel()
	never := make(chan struct{})
	url, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/never":
			select {
			case <-never:
			case <-r.Context().Done():
			}
		case "/cut":
			panic(http.ErrAbortHandler)
		case "/long":
			_, _ = io.Copy(w, io.LimitReader(endless{}, httpcall.MaxContent+1))
		}
	})
	defer close(never)
	for request, want := range map[string]string{
		`"uri":"http://127.0.0.1:1/"`:                  "Connection refused (127.0.0.1:1)",
		`"uri":"nonsense"`:                             "InvalidOperationException: An invalid request URI was provided.",
		`"uri":"/api/x"`:                               "InvalidOperationException: An invalid request URI was provided.",
		`"method":"GET"`:                               "InvalidOperationException: An invalid request URI was provided.",
		`"uri":"http://[::1/"`:                         "InvalidOperationException: An invalid request URI was provided.",
		`"uri":"ftp://127.0.0.1/"`:                     "The 'ftp' scheme is not supported.",
		`"method":"A B","uri":"{url}"`:                 "The format of the HTTP method is invalid.",
		`"uri":"{url}/never","timeout":"00:00:00.050"`: "A task was canceled. Reached user specified timeout: 00:00:00.050.",
		`"uri":"{url}","timeout":"5"`:                  `the timeout "5" of callHttp is no time`,
		`"uri":"{url}/cut"`:                            "An error occurred while sending the request.",
		`"uri":"{url}/long"`:                           "has more than 16 MiB",
		`"uri":"{url}","tokenSource":{"resource":"a"}`: "callHttp with a tokenSource is not emulated",
		`"uri":7`: "callHttp has no request that can be read",
		`"uri":"{url}","content":"a","headers":{"Content-Type":"multipart/form-data"}`: "Multipart content is not supported with CallHttpAsync.",
	} {
		_, failure := httpcall.Do(context.Background(), "{"+strings.ReplaceAll(request, "{url}", url)+"}")
		if failure == nil {
			t.Errorf("%s does not fail", request)
			continue
		}
		text := failure.Reason
		if failure.Failure != nil {
			text = strings.TrimPrefix(failure.Failure.Type, "System.") + ": " + failure.Failure.Message
		} else if !json.Valid([]byte(failure.Details)) || !strings.HasPrefix(failure.Details, `{"$type":"`) {
			t.Errorf("%s: details %s", request, failure.Details)
		}
		if !strings.Contains(text, want) {
			t.Errorf("%s: %s, want %s", request, text, want)
		}
	}
}

// endless is text without end.
type endless struct{}

func (endless) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = 'a'
	}
	return len(b), nil
}
