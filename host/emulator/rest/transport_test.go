package rest_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/host/emulator/rest"
	"github.com/redeliver/redeliver/host/emulator/rest/served"
	"github.com/redeliver/redeliver/host/emulator/storage"
	"github.com/redeliver/redeliver/host/listen"
)

// rawHeaders sends a signed request by hand and returns the headers of the
// answer with names as they came.
func rawHeaders(b *bench, method, path string) map[string]string {
	b.Helper()
	r := b.request(method, path, "")
	sign(b.T, r, rest.DevAccount, rest.DevKey, stringToSign(r, rest.DevAccount))
	conn := b.dial()
	defer conn.Close()
	if err := r.Write(conn); err != nil {
		b.Fatal(err)
	}
	lines := bufio.NewScanner(conn)
	headers := map[string]string{}
	for lines.Scan() && lines.Text() != "" {
		if name, value, ok := strings.Cut(lines.Text(), ": "); ok {
			headers[name] = value
		}
	}
	return headers
}

func (b *bench) dial() net.Conn {
	b.Helper()
	u, err := url.Parse(b.endpoint)
	if err != nil {
		b.Fatal(err)
	}
	conn, err := net.Dial("tcp", u.Host)
	if err != nil {
		b.Fatal(err)
	}
	return conn
}

func TestCommonHeaders(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ids := map[string]bool{}
	for _, version := range []string{"2018-03-28", "2021-12-02", "2099-01-01", "nonsense"} {
		a := b.want(200, "", "GET", "/?comp=list", "", header("X-Ms-Version", version), header("X-Ms-Client-Request-Id", "client-1"), header("X-Unknown", "?"))
		if got := a.Header.Get("X-Ms-Version"); got != version {
			t.Errorf("x-ms-version = %q, want %q echoed (S-11)", got, version)
		}
		if got := a.Header.Get("X-Ms-Client-Request-Id"); got != "client-1" {
			t.Errorf("x-ms-client-request-id = %q", got)
		}
		if got, want := a.Header.Get("Date"), "Wed, 02 Jan 2030 03:04:05 GMT"; got != want {
			t.Errorf("Date = %q, want the clock's %q", got, want)
		}
		id := a.Header.Get("X-Ms-Request-Id")
		if !regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`).MatchString(id) || ids[id] {
			t.Errorf("x-ms-request-id = %q, want a fresh GUID", id)
		}
		ids[id] = true
		if got := a.Header.Get("Content-Type"); got != "application/xml" {
			t.Errorf("Content-Type = %q", got)
		}
	}
	b.want(200, "", "GET", "/?comp=list&unknown=1&timeout=30", "")
}

func TestErrorDocument(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	a := b.want(404, "QueueNotFound", "GET", "/orders/messages", "")
	e := a.error(t)
	lines := strings.Split(e.Message, "\n")
	if e.Code != "QueueNotFound" || len(lines) != 3 || lines[0] != "The specified queue does not exist." ||
		lines[1] != "RequestId:"+a.Header.Get("X-Ms-Request-Id") || lines[2] != "Time:2030-01-02T03:04:05.0000000Z" {
		t.Errorf("error = %+v", e)
	}
	if got := a.Header.Get("Content-Type"); got != "application/xml" {
		t.Errorf("Content-Type = %q", got)
	}
	head := b.want(404, "QueueNotFound", "HEAD", "/orders?comp=metadata", "")
	if head.Body != "" {
		t.Errorf("HEAD has the body %q", head.Body)
	}
}

func TestAccountsInPathsAndHosts(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.create("orders")
	for _, row := range []struct {
		name, account, key, host, path string
		status                         int
		code                           string
	}{
		{"unknown account", rest.DevAccount, rest.DevKey, "", "/nobody/orders?comp=metadata", 404, "ResourceNotFound"},
		{"no account", rest.DevAccount, rest.DevKey, "", "/", 404, "ResourceNotFound"},
		{"other account", "other", secondKey, "", "/other/orders?comp=metadata", 404, "QueueNotFound"},
		{"key of another account", "other", rest.DevKey, "", "/other/orders?comp=metadata", 403, "AuthenticationFailed"},
		{"name of another account", rest.DevAccount, rest.DevKey, "", "/other/orders?comp=metadata", 403, "AuthenticationFailed"},
		{"account in the host", rest.DevAccount, rest.DevKey, "devstoreaccount1.queue.localhost:10001", "/orders?comp=metadata", 200, ""},
		{"other account in the host", "other", secondKey, "other.queue.localhost", "/orders?comp=metadata", 404, "QueueNotFound"},
		{"host without account", rest.DevAccount, rest.DevKey, "host.docker.internal:10001", "/devstoreaccount1/orders?comp=metadata", 200, ""},
		{"localhost", rest.DevAccount, rest.DevKey, "localhost", "/devstoreaccount1/orders?comp=metadata", 200, ""},
		{"secondary", rest.DevAccount, rest.DevKey, "", "/devstoreaccount1-secondary/orders?comp=metadata", 200, ""},
		{"secondary in the host", rest.DevAccount, rest.DevKey, "devstoreaccount1-secondary.queue.localhost", "/orders?comp=metadata", 200, ""},
		{"peek at the secondary", rest.DevAccount, rest.DevKey, "", "/devstoreaccount1-secondary/orders/messages?peekonly=true", 200, ""},
		{"get from the secondary", rest.DevAccount, rest.DevKey, "", "/devstoreaccount1-secondary/orders/messages", 403, "InsufficientAccountPermissions"},
		{"stats of the secondary", rest.DevAccount, rest.DevKey, "", "/devstoreaccount1-secondary/?restype=service&comp=stats", 200, ""},
		{"stats of the primary", rest.DevAccount, rest.DevKey, "", "/devstoreaccount1/?restype=service&comp=stats", 400, "InvalidQueryParameterValue"},
	} {
		r, err := http.NewRequestWithContext(t.Context(), "GET", b.server.QueueURL()+row.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Host = row.host
		r.Header.Set("X-Ms-Date", "now")
		sign(t, r, row.account, row.key, stringToSign(r, row.account))
		if a := b.send(r); a.Status != row.status || a.Code != row.code {
			t.Errorf("%s: %d %s, want %d %s\n%s", row.name, a.Status, a.Code, row.status, row.code, a.Body)
		}
	}
	// The service strips the suffix from what is signed, SDKs leave it in.
	r := b.request("GET", "-secondary/orders?comp=metadata", "")
	text := strings.Replace(stringToSign(r, rest.DevAccount), "-secondary", "", 1)
	sign(t, r, rest.DevAccount, rest.DevKey, text)
	if a := b.send(r); a.Status != 200 {
		t.Errorf("signed without the suffix: %d %s", a.Status, a.Code)
	}
}

func TestParseAccounts(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		value string
		want  string // names and numbers of keys
		err   string
	}{
		{"", "", ""},
		{"a:" + secondKey, "a1", ""},
		{"a:" + secondKey + ":" + rest.DevKey + ";b:" + secondKey + ";", "a2 b1", ""},
		{" a:" + secondKey + " ; ", "a1", ""},
		{"a:c2Vjb25kIGtleSBvZiB0aGUgYWNjb3VudA:-_-_", "a2", ""}, // of the other alphabet, without padding
		{"a", "", `an account has no colon: want name:key or name:key1:key2`},
		{"a:" + secondKey + ":x:y", "", `account "a": want name:key or name:key1:key2`},
		{"a:!", "", `account "a": a key is not base64`},
		{"a:", "", `account "a": a key is not base64`},
		{":" + secondKey, "", `account without a name`},
		{"a/b:" + secondKey, "", `account "a/b": not a name that an address can hold`},
		{"a:" + secondKey + ";a:" + secondKey, "", `account "a": given twice`},
	} {
		accounts, err := rest.ParseAccounts(row.value)
		var got []string
		for _, a := range accounts {
			got = append(got, fmt.Sprint(a.Name, len(a.Keys)))
		}
		if text := strings.Join(got, " "); text != row.want || (err == nil) != (row.err == "") || err != nil && err.Error() != row.err {
			t.Errorf("ParseAccounts(%q) = %q, %v, want %q, %s", row.value, text, err, row.want, row.err)
		}
	}
}

// A key in any Base64 alphabet signs, and clients are told it in the alphabet that
// all of them read.
//
// Source: Azurite, which reads keys with Node's Buffer.from.
func TestAccountKeysOfTheOtherAlphabet(t *testing.T) {
	t.Parallel()
	accounts, err := rest.ParseAccounts("a:-_-_AQ:" + strings.TrimRight(secondKey, "="))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := accounts[0].Keys, []string{"+/+/AQ==", secondKey}; !slices.Equal(got, want) {
		t.Errorf("keys = %q, want %q", got, want)
	}
}

func TestInvalidServers(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	if _, err := served.NewServer(b.clk, &rest.Options{Accounts: []rest.Account{{Name: "a", Keys: []string{secondKey}}}}); err == nil {
		t.Error("an account without queues is served")
	}
	if u, err := url.Parse(b.server.QueueURL()); err != nil || u.Hostname() != "127.0.0.1" || u.Port() == "0" {
		t.Errorf("QueueURL = %q, want a port on 127.0.0.1", b.server.QueueURL())
	}
	var port int
	fmt.Sscanf(b.server.QueueURL(), "http://127.0.0.1:%d", &port)
	second, err := served.NewServer(b.clk, &rest.Options{QueuePort: port})
	if err != nil {
		t.Fatal(err)
	}
	err = second.Start()
	busy, ok := errors.AsType[*listen.PortError](err)
	if !ok || !busy.Busy() || busy.Service != "queue service" {
		t.Fatalf("Start on a busy port = %v, want a *listen.PortError", err)
	}
	if want := fmt.Sprintf("queue service: port %d is in use: is Azurite or another emulator running?", port); err.Error() != want {
		t.Errorf("error = %q, want %q", err, want)
	}
	if err := second.Close(); err != nil {
		t.Errorf("Close of a server that did not start: %v", err)
	}
	none, err := served.NewServer(b.clk, &rest.Options{QueuePort: -1})
	if err != nil || none.Start() != nil || none.QueueURL() != "" || none.Close() != nil {
		t.Errorf("a server without servers: %v", err)
	}
}

func TestBodiesArriveInEveryWay(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.create("orders")
	chunked := func(r *http.Request) {
		r.Body = io.NopCloser(io.MultiReader(strings.NewReader("<QueueMessage><Message"), strings.NewReader("Text>a</MessageText></QueueMessage>")))
		r.ContentLength = -1
		r.GetBody = nil
	}
	b.want(201, "", "POST", "/orders/messages", "x", chunked)
	b.want(201, "", "POST", "/orders/messages", message("a"), header("Expect", "100-continue"))
}

func TestExpectContinueWithoutAuthorizationSendsNoBody(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	conn := b.dial()
	defer conn.Close()
	fmt.Fprintf(conn, "POST /%s/orders/messages HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\nExpect: 100-continue\r\n\r\n", rest.DevAccount)
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != 401 {
		t.Errorf("status = %d, want 401 before any body", resp.StatusCode)
	}
}

func TestChunkedBodyCutShortChangesNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.create("orders")
	r := b.request("POST", "/orders/messages", "")
	sign(t, r, rest.DevAccount, rest.DevKey, stringToSign(r, rest.DevAccount))
	conn := b.dial()
	defer conn.Close()
	fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n", r.URL.Path)
	if err := r.Header.Write(conn); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(conn, "\r\n10\r\n<QueueMessage><M\r\nnonsense\r\n")
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != 400 {
		t.Errorf("status = %d, want 400", resp.StatusCode)
	}
	if ms := b.want(200, "", "GET", "/orders/messages", "").messages(t); len(ms) != 0 {
		t.Errorf("%d messages, want none", len(ms))
	}
}

func TestConnectionsAreKept(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.create("orders")
	for i := range 3 {
		reused := false
		trace := &httptrace.ClientTrace{GotConn: func(c httptrace.GotConnInfo) { reused = c.Reused }}
		r := b.request("GET", "/orders?comp=metadata", "")
		sign(t, r, rest.DevAccount, rest.DevKey, stringToSign(r, rest.DevAccount))
		if a := b.send(r.WithContext(httptrace.WithClientTrace(r.Context(), trace))); a.Status != 200 || !reused {
			t.Errorf("request %d: %d, connection reused: %v", i, a.Status, reused)
		}
	}
}

func TestTLS(t *testing.T) {
	t.Parallel()
	certificate := httptest.NewUnstartedServer(nil)
	certificate.StartTLS()
	defer certificate.Close()
	b := newBench(t, func(s *setup) { s.rest.TLS = certificate.TLS })
	b.client.Transport.(*http.Transport).TLSClientConfig = &tls.Config{InsecureSkipVerify: true} // the certificate is a test's
	if !strings.HasPrefix(b.endpoint, "https://") {
		t.Fatalf("endpoint = %s", b.endpoint)
	}
	b.want(201, "", "PUT", "/orders", "", header("x-ms-meta-MixedCase", "1"))
	r := b.request("GET", "/orders?comp=metadata", "")
	r.Header.Set("Authorization", "Bearer "+token("{}"))
	a := b.send(r)
	if a.Status != 200 || a.Header.Get("X-Ms-Meta-Mixedcase") != "1" {
		t.Errorf("bearer token over TLS: %d %s", a.Status, a.Code)
	}
}

// Faults of the service decide the answer (storage.md E-5).
func TestFaults(t *testing.T) {
	t.Parallel()
	var fault error
	var after bool
	b := newBench(t, func(s *setup) {
		s.store.Fault = func(p storage.FaultPoint) error {
			if p.Op == "Put" && p.After == after {
				return fault
			}
			return nil
		}
	})
	b.create("orders")
	set := func(err error, when bool) { b.do(func(context.Context) { fault, after = err, when }) }
	set(bindings.ErrUnavailable, false)
	b.want(503, "ServerBusy", "POST", "/orders/messages", message("a"))
	set(errors.New("disk on fire"), false)
	b.want(500, "InternalError", "POST", "/orders/messages", message("a"))
	set(bindings.ErrBeingDeleted, false)
	b.want(409, "QueueBeingDeleted", "POST", "/orders/messages", message("a"))
	set(&rest.Error{Status: 507, Code: "Teapot", Message: "no", Header: http.Header{"Retry-After": {"3"}}}, false)
	if a := b.want(507, "Teapot", "POST", "/orders/messages", message("a")); a.Header.Get("Retry-After") != "3" {
		t.Errorf("headers = %v", a.Header)
	}
	set(rest.ErrCut, true)
	r := b.request("POST", "/orders/messages", message("done, but nobody knows"))
	sign(t, r, rest.DevAccount, rest.DevKey, stringToSign(r, rest.DevAccount))
	if resp, err := b.client.Do(r); err == nil {
		resp.Body.Close()
		t.Errorf("a cut connection answered %d", resp.StatusCode)
	}
	if ms := b.want(200, "", "GET", "/orders/messages?numofmessages=32", "").messages(t); len(ms) != 1 {
		t.Errorf("%d messages, want the message that was put before the cut", len(ms))
	}
}

func TestSlowClientHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.create("orders")
	conn := b.dial()
	defer conn.Close()
	r := b.request("POST", "/orders/messages", message("slow"))
	sign(t, r, rest.DevAccount, rest.DevKey, stringToSign(r, rest.DevAccount))
	fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n", r.URL.Path, r.ContentLength)
	if err := r.Header.Write(conn); err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(conn, "\r\n<QueueMessage>")
	b.put("orders", "fast")
	b.clk.Advance(time.Hour) // half a request does not hold the clock
	if ms := b.want(200, "", "GET", "/orders/messages?numofmessages=32", "").messages(t); len(ms) != 1 {
		t.Errorf("%d messages, want the fast one", len(ms))
	}
}
