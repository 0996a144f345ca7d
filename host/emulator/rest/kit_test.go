package rest_test

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/xml"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redeliver/redeliver/bindings/blob"
	"github.com/redeliver/redeliver/bindings/queue"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/rest"
	"github.com/redeliver/redeliver/host/emulator/rest/served"
	"github.com/redeliver/redeliver/host/emulator/storage"
)

var start = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)

const secondKey = "c2Vjb25kIGtleSBvZiB0aGUgYWNjb3VudA=="

// bench is a server with the development account (two keys) and an account named
// other, on a virtual clock that only Advance moves.
type bench struct {
	*testing.T
	clk      *clock.Virtual
	storage  *storage.Storage
	server   *rest.Server
	client   *http.Client
	endpoint string // of the account, no slash at the end
}

type setup struct {
	rest  rest.Options
	store storage.Options
	blobs func(blob.Account) blob.Account // wraps the first account's; may be nil

	tables bool // the accounts have tables
}

func newBench(t *testing.T, edit ...func(*setup)) *bench {
	t.Helper()
	b := &bench{T: t, clk: clock.NewVirtual(start, &clock.VirtualOptions{Strict: true})}
	var s setup
	for _, e := range edit {
		e(&s)
	}
	b.storage = storage.New(b.clk, &s.store)
	other := storage.New(b.clk, nil)
	s.rest.Accounts = []rest.Account{
		{Name: rest.DevAccount, Keys: []string{rest.DevKey, secondKey}, Queues: b.storage, QueueAdmin: b.storage, Blobs: b.storage},
		{Name: "other", Keys: []string{secondKey}, Queues: other, QueueAdmin: other, Blobs: other},
	}
	if s.tables {
		for i, account := range []*storage.Storage{b.storage, other} {
			s.rest.Accounts[i].Tables, s.rest.Accounts[i].TableAdmin = account, account
		}
	}
	if s.blobs != nil {
		s.rest.Accounts[0].Blobs = s.blobs(b.storage)
	}
	server, err := served.NewServer(b.clk, &s.rest)
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{}
	b.server, b.client = server, &http.Client{Transport: transport}
	b.endpoint = server.QueueURL() + "/" + rest.DevAccount
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		if err := server.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return b
}

// queue returns the queue as its owner sees it; call it in do.
func (b *bench) queue(name string) queue.Queue { return b.storage.Queue(name) }

func (b *bench) do(f func(ctx context.Context)) {
	b.clk.Do("test", func() { f(context.Background()) })
}

// answer is a response, read.
type answer struct {
	Status int
	Code   string // x-ms-error-code
	Header http.Header
	Body   string
}

// request makes a request to a path below the account, without any signature.
func (b *bench) request(method, path, body string) *http.Request {
	b.Helper()
	var r io.Reader
	if body != "" {
		r = strings.NewReader(body)
	}
	req, err := http.NewRequestWithContext(b.Context(), method, b.endpoint+path, r)
	if err != nil {
		b.Fatal(err)
	}
	req.Header.Set("X-Ms-Version", "2021-12-02")
	req.Header.Set("X-Ms-Date", b.clk.Now().Format(http.TimeFormat))
	return req
}

func (b *bench) send(r *http.Request) answer {
	b.Helper()
	resp, err := b.client.Do(r)
	if err != nil {
		b.Fatalf("%s %s: %v", r.Method, r.URL, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		b.Fatalf("%s %s: %v", r.Method, r.URL, err)
	}
	return answer{resp.StatusCode, resp.Header.Get("X-Ms-Error-Code"), resp.Header, string(body)}
}

// call sends a signed request; edit changes it before it is signed.
func (b *bench) call(method, path, body string, edit ...func(*http.Request)) answer {
	b.Helper()
	r := b.request(method, path, body)
	for _, e := range edit {
		e(r)
	}
	sign(b.T, r, rest.DevAccount, rest.DevKey, stringToSign(r, rest.DevAccount))
	return b.send(r)
}

// want is call that demands a status and an error code ("" for none).
func (b *bench) want(status int, code, method, path, body string, edit ...func(*http.Request)) answer {
	b.Helper()
	a := b.call(method, path, body, edit...)
	if a.Status != status || a.Code != code {
		b.Fatalf("%s %s = %d %s, want %d %s\n%s", method, path, a.Status, a.Code, status, code, a.Body)
	}
	return a
}

func header(name, value string) func(*http.Request) {
	return func(r *http.Request) { r.Header[name] = []string{value} }
}

// sign sets the Authorization header. The string to sign is written here once
// more, from the documentation (docs: Authorize with Shared Key), to check the
// server's.
func sign(t *testing.T, r *http.Request, account, key, text string) {
	t.Helper()
	r.Header.Set("Authorization", "SharedKey "+account+":"+mac(t, key, text))
}

func mac(t *testing.T, key, text string) string {
	t.Helper()
	k, err := base64.StdEncoding.DecodeString(key)
	if err != nil {
		t.Fatal(err)
	}
	h := hmac.New(sha256.New, k)
	io.WriteString(h, text)
	return base64.StdEncoding.EncodeToString(h.Sum(nil))
}

func stringToSign(r *http.Request, account string) string {
	length := ""
	if r.ContentLength > 0 {
		length = strconv.FormatInt(r.ContentLength, 10)
	}
	date := r.Header.Get("Date")
	if r.Header.Get("X-Ms-Date") != "" {
		date = ""
	}
	lines := []string{
		r.Method, r.Header.Get("Content-Encoding"), r.Header.Get("Content-Language"), length, r.Header.Get("Content-MD5"),
		r.Header.Get("Content-Type"), date, r.Header.Get("If-Modified-Since"), r.Header.Get("If-Match"), r.Header.Get("If-None-Match"),
		r.Header.Get("If-Unmodified-Since"), r.Header.Get("Range"),
	}
	return strings.Join(lines, "\n") + "\n" + canonicalHeaders(r) + canonicalResource(r, account)
}

func canonicalHeaders(r *http.Request) string {
	lines := map[string]string{} // by name, by which they are sorted
	for name, values := range r.Header {
		if lower := strings.ToLower(name); strings.HasPrefix(lower, "x-ms-") {
			lines[lower] = lower + ":" + strings.TrimSpace(strings.Join(values, ",")) + "\n"
		}
	}
	text := ""
	for _, name := range slices.Sorted(maps.Keys(lines)) {
		text += lines[name]
	}
	return text
}

func canonicalResource(r *http.Request, account string) string {
	text := "/" + account + r.URL.EscapedPath()
	query, _ := url.ParseQuery(strings.ReplaceAll(r.URL.RawQuery, ";", "%3B")) // Go's parser has no unescaped ones
	var names []string
	for name := range query {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		slices.Sort(query[name])
		text += "\n" + strings.ToLower(name) + ":" + strings.Join(query[name], ",")
	}
	return text
}

// errorDocument is the body of an error.
type errorDocument struct {
	XMLName xml.Name `xml:"Error"`
	Code    string
	Message string
	Details []struct {
		XMLName xml.Name
		Value   string `xml:",chardata"`
	} `xml:",any"`
}

func (a answer) error(t *testing.T) errorDocument {
	t.Helper()
	var e errorDocument
	if err := xml.Unmarshal([]byte(a.Body), &e); err != nil {
		t.Fatalf("error body: %v in %q", err, a.Body)
	}
	return e
}

// detail returns a further element of an error's body.
func (a answer) detail(t *testing.T, name string) string {
	t.Helper()
	for _, d := range a.error(t).Details {
		if d.XMLName.Local == name {
			return d.Value
		}
	}
	return ""
}

// wireMessage is a message in an answer.
type wireMessage struct {
	MessageID       string `xml:"MessageId"`
	InsertionTime   string
	ExpirationTime  string
	PopReceipt      *string
	TimeNextVisible *string
	DequeueCount    *int
	MessageText     *string
}

func (a answer) messages(t *testing.T) []wireMessage {
	t.Helper()
	var list struct {
		XMLName  xml.Name      `xml:"QueueMessagesList"`
		Messages []wireMessage `xml:"QueueMessage"`
	}
	dec := xml.NewDecoder(bytes.NewReader([]byte(a.Body)))
	if err := dec.Decode(&list); err != nil {
		t.Fatalf("messages: %v in %q", err, a.Body)
	}
	return list.Messages
}

func message(text string) string {
	var b strings.Builder
	b.WriteString("<QueueMessage><MessageText>")
	xml.EscapeText(&b, []byte(text))
	b.WriteString("</MessageText></QueueMessage>")
	return b.String()
}

// put adds a message and returns what the answer says of it.
func (b *bench) put(queue, text string) wireMessage {
	b.Helper()
	return b.want(201, "", "POST", "/"+queue+"/messages", message(text)).messages(b.T)[0]
}

func (b *bench) create(queue string) {
	b.Helper()
	b.want(201, "", "PUT", "/"+queue, "")
}

func query(values ...string) string {
	q := url.Values{}
	for i := 0; i+1 < len(values); i += 2 {
		q.Set(values[i], values[i+1])
	}
	return "?" + q.Encode()
}
