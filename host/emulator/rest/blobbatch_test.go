package rest_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"

	"github.com/redeliver/redeliver/host/emulator/rest"
)

// part is a request of a batch, signed with the key of the account or as it is.
func (b *bench) part(method, path string, signed bool, headers ...string) string {
	b.Helper()
	r := b.request(method, path, "")
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	if signed {
		sign(b.T, r, rest.DevAccount, rest.DevKey, stringToSign(r, rest.DevAccount))
	}
	var text bytes.Buffer
	fmt.Fprintf(&text, "%s %s HTTP/1.1\r\n", method, r.URL.RequestURI())
	r.Header.Write(&text)
	return text.String() + "Content-Length: 0\r\n"
}

// batch sends requests in one and returns the answers, each "id status code".
func (b *bench) batch(path string, parts ...string) []string {
	b.Helper()
	var body strings.Builder
	for i, part := range parts {
		fmt.Fprintf(&body, "--b=1\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\nContent-ID: %d\r\n\r\n%s\r\n", i, part)
	}
	return b.batchAnswers(b.want(202, "", "POST", path, body.String()+"--b=1--\r\n", header("Content-Type", "multipart/mixed; Boundary=b=1")))
}

func (b *bench) batchAnswers(a answer) (got []string) {
	b.Helper()
	_, params, err := mime.ParseMediaType(a.Header.Get("Content-Type"))
	if err != nil {
		b.Fatal(err)
	}
	answers := multipart.NewReader(strings.NewReader(a.Body), params["boundary"])
	for {
		part, err := answers.NextPart()
		if err == io.EOF {
			return got
		}
		if err != nil {
			b.Fatal(err)
		}
		resp, err := http.ReadResponse(bufio.NewReader(part), nil)
		if err != nil {
			b.Fatal(err)
		}
		resp.Body.Close()
		if resp.Header.Get("X-Ms-Request-Id") == "" && part.Header.Get("Content-Id") != "" {
			b.Errorf("answer %s has no request id", part.Header.Get("Content-Id"))
		}
		got = append(got, strings.TrimSpace(fmt.Sprint(part.Header.Get("Content-Id"), " ", resp.StatusCode, " ", resp.Header.Get("X-Ms-Error-Code"))))
	}
}

// Source: docs, Blob Batch.
func TestBlobBatch(t *testing.T) {
	t.Parallel()
	b := newBlobBench(t)
	b.want(201, "", "PUT", "/second?restype=container", "")
	for _, path := range []string{"/box/a", "/box/b", "/box/c", "/second/a"} {
		b.upload(path, "text")
	}
	reader := fullAccount.with("sp", "r").account(t, rest.DevKey)
	deleter := fullAccount.with("sp", "d").account(t, rest.DevKey)
	got := b.batch("/?comp=batch", b.part("PUT", "/box/a?comp=tier", true, "X-Ms-Access-Tier", "Cool"), b.part("PUT", "/box/a?comp=tier", true))
	if text := strings.Join(got, ","); text != "0 200,1 400 MissingRequiredHeader" {
		t.Errorf("answers of changes of tier = %s", text)
	}
	got = b.batch("/?comp=batch",
		b.part("DELETE", "/box/a", true),
		b.part("DELETE", "/box/a", true),
		b.part("DELETE", "/box/b", false),
		b.part("DELETE", "/box/b?"+reader, false),
		b.part("DELETE", "/box/b?"+deleter, false),
		b.part("GET", "/box/c", true),
		b.part("PUT", "/box/c", true, "X-Ms-Blob-Type", "BlockBlob"),
		b.part("POST", "/?comp=batch", true),
		"not a request",
	)
	want := "0 202,1 404 BlobNotFound,2 401 NoAuthenticationInformation,3 403 AuthorizationPermissionMismatch,4 202,5 400 InvalidInput,6 400 InvalidInput,7 400 InvalidInput,8 400 InvalidInput"
	if text := strings.Join(got, ","); text != want {
		t.Errorf("answers = %s\nwant      %s", text, want)
	}
	if got := b.want(200, "", "GET", "/box/c", "").Body; got != "text" {
		t.Errorf("a blob that was not to be changed = %q", got)
	}
	got = b.batch("/box?restype=container&comp=batch", b.part("DELETE", "/box/c", true), b.part("DELETE", "/second/a", true))
	if text := strings.Join(got, ","); text != "0 202,1 400 InvalidInput" {
		t.Errorf("answers in a container = %s", text)
	}
	b.want(200, "", "HEAD", "/second/a", "")

	primary := b.endpoint
	b.endpoint = b.server.BlobURL() + "/" + rest.DevAccount + "-secondary"
	secondary := b.part("DELETE", "/second/a", true)
	b.endpoint = primary
	if got := b.batch("/?comp=batch", secondary); got[0] != "0 403 InsufficientAccountPermissions" {
		t.Errorf("a deletion on the secondary = %v", got)
	}
	b.want(200, "", "HEAD", "/second/a", "")

	b.want(400, "MissingRequiredHeader", "POST", "/?comp=batch", "x")
	for kind, code := range map[string]string{
		"multipart/mixed": "InvalidHeaderValue", "multipart/mixed; boundary=": "InvalidHeaderValue", "text/plain; boundary=b": "InvalidHeaderValue",
		"multipart/mixed; boundary=a; boundary=b": "InvalidInput", "multipart/mixed; boundary=b": "InvalidInput",
	} {
		a := b.want(202, "", "POST", "/?comp=batch", "x", header("Content-Type", kind))
		if got := strings.Join(b.batchAnswers(a), ","); got != "400 "+code {
			t.Errorf("%s: %s, want 400 %s", kind, got, code)
		}
	}
	many := make([]string, 257)
	for i := range many {
		many[i] = b.part("DELETE", "/box/none", true)
	}
	if got := b.batch("/?comp=batch", many...); len(got) != 1 || got[0] != "400 ExceedsMaxBatchRequestCount" {
		t.Errorf("257 requests: %v", got)
	}
	if a := b.ask("POST", "/?comp=batch", "x", ""); a.Status != 401 {
		t.Errorf("batch without a signature = %d", a.Status)
	}
}
