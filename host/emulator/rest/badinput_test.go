package rest_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/bindings/blob"
	"github.com/redeliver/redeliver/host/emulator/rest"
)

// state is the content of an account, in words.
func (b *bench) state() string {
	b.Helper()
	var out strings.Builder
	b.do(func(ctx context.Context) {
		names, err := b.storage.Queues(ctx)
		if err != nil {
			b.Error(err)
		}
		for _, name := range names {
			ms, err := b.storage.Queue(name).Peek(ctx, 32)
			if err != nil {
				b.Error(err)
			}
			fmt.Fprintln(&out, "queue", name)
			for _, m := range ms {
				fmt.Fprintf(&out, "%+v\n", *m)
			}
		}
		page, err := b.storage.Containers(ctx, &blob.ListContainersOptions{Metadata: true})
		if err != nil {
			b.Error(err)
			return
		}
		for _, c := range page.Containers {
			fmt.Fprintln(&out, "container", c.Name, c.Properties.ETag)
			blobs, err := b.storage.Container(c.Name).Blobs(ctx, &blob.ListOptions{Include: blob.ListInclude{Metadata: true, Snapshots: true, Uncommitted: true}})
			if err != nil {
				b.Error(err)
				return
			}
			for _, item := range blobs.Blobs {
				fmt.Fprintf(&out, "blob %s %s %s %d\n", item.Name, item.Snapshot, item.Properties.ETag, item.Properties.ContentLength)
			}
		}
	})
	return out.String()
}

// raw sends a request as it is written, signed or not, and returns status and
// code of the answer; 0 if the server hung up without one.
func (b *bench) raw(host, text string) (int, string) {
	b.Helper()
	conn, err := net.Dial("tcp", host)
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Write([]byte(text)); err != nil {
		b.Fatal(err)
	}
	conn.(*net.TCPConn).CloseWrite()
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return 0, ""
	}
	resp.Body.Close()
	return resp.StatusCode, resp.Header.Get("X-Ms-Error-Code")
}

// signed writes a request with its signature, for raw. headers are lines with
// their names as they are to be signed.
func (b *bench) signed(method, path string, headers map[string]string, framing, body string) string {
	b.Helper()
	u, err := url.Parse(b.endpoint)
	if err != nil {
		b.Fatal(err)
	}
	text := u.Path + path
	target, err := url.Parse("http://x" + text)
	if err != nil {
		b.Fatal(err)
	}
	r := &http.Request{Method: method, URL: target, Header: http.Header{}}
	r.Header.Set("X-Ms-Date", b.clk.Now().Format(http.TimeFormat))
	r.Header.Set("X-Ms-Version", "2021-12-02")
	for name, value := range headers {
		r.Header.Set(name, value)
	}
	if n, ok := strings.CutPrefix(framing, "Content-Length: "); ok {
		fmt.Sscan(n, &r.ContentLength)
	}
	sign(b.T, r, rest.DevAccount, rest.DevKey, stringToSign(r, rest.DevAccount))
	var out strings.Builder
	fmt.Fprintf(&out, "%s %s HTTP/1.1\r\nHost: localhost\r\n%s\r\n", method, text, framing)
	r.Header.Write(&out)
	return out.String() + "\r\n" + body
}

// TestBadInput: every fault of a request has its status and its code, and changes
// nothing.
func TestBadInput(t *testing.T) {
	t.Parallel()
	b := newBlobBench(t)
	blobs, queues := b.endpoint, b.server.QueueURL()+"/"+rest.DevAccount
	b.upload("/box/kept", "0123456789")
	b.endpoint = queues
	b.create("orders")
	m := b.put("orders", "kept")
	receipt := query("popreceipt", *m.PopReceipt)
	put, block := message("lost"), map[string]string{"X-Ms-Blob-Type": "BlockBlob"}
	length := func(n int) string { return fmt.Sprintf("Content-Length: %d", n) }
	const chunked, none = "Transfer-Encoding: chunked", "Content-Length: 0"

	for _, row := range []struct {
		name, server, method, path string
		headers                    map[string]string
		framing, body              string
		status                     int
		code                       string
	}{
		{"malformed XML", queues, "POST", "/orders/messages", nil, length(20), "<QueueMessage><Messag", 400, "InvalidXmlDocument"},
		{"entities that grow", queues, "POST", "/orders/messages", nil, length(96), `<!DOCTYPE a [<!ENTITY b "ccc">]><QueueMessage><MessageText>&b;&b;&b;</MessageText></QueueMessage>`, 400, "InvalidXmlDocument"},
		{"malformed policies", queues, "PUT", "/orders?comp=acl", nil, length(4), "<a/>", 400, "InvalidXmlDocument"},
		{"malformed properties", queues, "PUT", "/?restype=service&comp=properties", nil, length(5), "<?xml", 400, "InvalidXmlDocument"},
		{"malformed block list", blobs, "PUT", "/box/b?comp=blocklist", nil, length(11), "<BlockList><", 400, "InvalidXmlDocument"},
		{"block list of unknown blocks", blobs, "PUT", "/box/b?comp=blocklist", nil, length(48), "<BlockList><Latest>AAAA</Latest></BlockList>    ", 400, "InvalidBlockList"},
		{"33 messages", queues, "GET", "/orders/messages?numofmessages=33", nil, none, "", 400, "OutOfRangeQueryParameterValue"},
		{"negative time to live", queues, "POST", "/orders/messages?messagettl=-2", nil, length(len(put)), put, 400, "InvalidQueryParameterValue"},
		{"wrong receipt", queues, "DELETE", "/orders/messages/" + m.MessageID + "?popreceipt=AAAA", nil, none, "", 400, "PopReceiptMismatch"},
		{"wrong message", queues, "DELETE", "/orders/messages/nobody" + receipt, nil, none, "", 404, "MessageNotFound"},
		{"traversal to another queue", queues, "DELETE", "/none/../orders", nil, none, "", 404, "ResourceNotFound"},
		{"escaped traversal", queues, "DELETE", "/%2e%2e/orders", nil, none, "", 400, "OutOfRangeInput"},
		{"escaped slash in a queue", queues, "DELETE", "/or%2Fders", nil, none, "", 400, "InvalidResourceName"},
		{"escaped slash for messages", queues, "DELETE", "/orders%2Fmessages", nil, none, "", 400, "InvalidResourceName"},
		{"traversal to a container", blobs, "DELETE", "/none/../../box?restype=container", nil, none, "", 404, "ContainerNotFound"},
		{"container of dots", blobs, "PUT", "/..?restype=container", nil, none, "", 400, ""},
		{"blob that is not there, by dots", blobs, "DELETE", "/box/x/../kept", nil, none, "", 404, "BlobNotFound"},
		{"oversize message", queues, "POST", "/orders/messages", nil, length(2 << 20), strings.Repeat("x", 2<<20), 413, "RequestBodyTooLarge"},
		{"oversize blob", blobs, "PUT", "/box/b", block, "Content-Length: 9999999999999", "", 413, "RequestBodyTooLarge"},
		{"oversize chunked message", queues, "POST", "/orders/messages", nil, chunked, "200000\r\n" + strings.Repeat("x", 2<<20) + "\r\n0\r\n\r\n", 413, "RequestBodyTooLarge"},
		{"chunked message cut short", queues, "POST", "/orders/messages", nil, chunked, "100\r\n<QueueMessage>", 400, "InvalidInput"},
		{"chunked blob cut short", blobs, "PUT", "/box/kept", block, chunked, "a\r\n01234", 400, "InvalidInput"},
		{"chunked block cut short", blobs, "PUT", "/box/kept?comp=block&blockid=AAAA", nil, chunked, "a\r\n01234", 400, "InvalidInput"},
		{"message cut short", queues, "POST", "/orders/messages", nil, length(100), "<QueueMessage>", 400, "InvalidInput"},
		{"blob cut short", blobs, "PUT", "/box/kept", block, length(100), "01234", 400, "InvalidInput"},
		{"block list cut short", blobs, "PUT", "/box/kept?comp=blocklist", nil, length(100), "<BlockList></BlockList>", 400, "InvalidInput"},
		{"wrong MD5", blobs, "PUT", "/box/kept", map[string]string{"X-Ms-Blob-Type": "BlockBlob", "Content-Md5": "AAAAAAAAAAAAAAAAAAAAAA=="}, length(1), "x", 400, "Md5Mismatch"},
		{"MD5 that is none", blobs, "PUT", "/box/kept", map[string]string{"X-Ms-Blob-Type": "BlockBlob", "Content-Md5": "x"}, length(1), "x", 400, "InvalidMd5"},
		{"unknown type", blobs, "PUT", "/box/kept", map[string]string{"X-Ms-Blob-Type": "Cube"}, length(1), "x", 400, "InvalidHeaderValue"},
		{"bad date in a condition", blobs, "PUT", "/box/kept", map[string]string{"X-Ms-Blob-Type": "BlockBlob", "If-Unmodified-Since": "yesterday"}, length(1), "x", 400, "InvalidHeaderValue"},
		{"bad range", blobs, "GET", "/box/kept", map[string]string{"X-Ms-Range": "bytes=9-1"}, none, "", 400, "InvalidHeaderValue"},
		{"range behind the end", blobs, "GET", "/box/kept", map[string]string{"X-Ms-Range": "bytes=10-"}, none, "", 416, "InvalidRange"},
		{"bad metadata name", blobs, "PUT", "/box/kept?comp=metadata", map[string]string{"X-Ms-Meta-1-2": "x"}, none, "", 400, "InvalidMetadata"},
	} {
		b.endpoint = row.server
		before := b.state()
		u, _ := url.Parse(row.server)
		status, code := b.raw(u.Host, b.signed(row.method, row.path, row.headers, row.framing, row.body))
		if status != row.status || row.code != "" && code != row.code {
			t.Errorf("%s: %d %s, want %d %s", row.name, status, code, row.status, row.code)
		}
		if diff := cmp.Diff(before, b.state()); diff != "" {
			t.Errorf("%s: the state changed:\n%s", row.name, diff)
		}
	}
}

// TestBadInputWithoutSignature: callers without a valid signature change nothing
// and learn nothing, by any request.
func TestBadInputWithoutSignature(t *testing.T) {
	t.Parallel()
	b := newBlobBench(t)
	b.upload("/box/kept", "0123456789")
	before := b.state()
	u, _ := url.Parse(b.endpoint)
	for _, row := range []struct {
		request string
		status  int
		code    string
	}{
		{"GET /devstoreaccount1/box/kept HTTP/1.1\r\nHost: localhost\r\n\r\n", 401, "NoAuthenticationInformation"},
		{"PUT /devstoreaccount1/box/kept HTTP/1.1\r\nHost: localhost\r\nAuthorization: SharedKey\r\nContent-Length: 5\r\n\r\nwrong", 400, "InvalidAuthenticationInfo"},
		{"DELETE /devstoreaccount1/box/kept HTTP/1.1\r\nHost: localhost\r\nAuthorization: SharedKey devstoreaccount1:AAAA\r\n\r\n", 403, "AuthenticationFailed"},
		{"DELETE /devstoreaccount1/box/kept HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer token\r\n\r\n", 403, "AuthenticationFailed"},
		{"DELETE /devstoreaccount1/box/kept HTTP/1.1\r\nHost: localhost\r\nAuthorization: Digest a=b\r\n\r\n", 400, "InvalidAuthenticationInfo"},
		{"DELETE /nobody/box/kept HTTP/1.1\r\nHost: localhost\r\n\r\n", 404, "ResourceNotFound"},
		{"DELETE /devstoreaccount1/box/%zz HTTP/1.1\r\nHost: localhost\r\n\r\n", 400, ""},
		{"GET / HTTP/9.9\r\n\r\n", 505, ""},
		{"nonsense\r\n\r\n", 400, ""},
		{"GET / HTTP/1.1\r\nHost: localhost\r\nno colon\r\n\r\n", 400, ""},
		{"PUT /devstoreaccount1/box/kept HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n", 400, ""},
		{"PUT /devstoreaccount1/box/kept HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx", 400, ""},
		{"GET / HTTP/1.1\r\nHost: localhost\r\nA: " + strings.Repeat("x", 2<<20) + "\r\n\r\n", 431, ""},
	} {
		status, code := b.raw(u.Host, row.request)
		if status == 0 && row.status == 431 {
			continue // hung up while the client was still writing
		}
		if status != row.status || code != row.code {
			t.Errorf("%.80q: %d %s, want %d %s", row.request, status, code, row.status, row.code)
		}
	}
	if diff := cmp.Diff(before, b.state()); diff != "" {
		t.Errorf("the state changed:\n%s", diff)
	}
}

// TestManyIdleConnections holds 10,000 connections open, or as many as the limit
// of files allows: half have asked something, half never say a word. The server
// still answers, and afterwards nothing of them is left (TestMain).
func TestManyIdleConnections(t *testing.T) {
	b := newBench(t)
	b.create("orders")
	many := min(10_000, (openFiles()-500)/2) // both ends are here
	if testing.Short() {
		many = min(many, 500)
	}
	if many < 100 {
		t.Skipf("only %d files may be open", openFiles())
	}
	unsigned := []byte("HEAD /" + rest.DevAccount + "/orders?comp=metadata HTTP/1.1\r\nHost: localhost\r\n\r\n")
	before := memoryInUse()
	goroutines := runtime.NumGoroutine()
	var conns []net.Conn
	defer func() {
		for _, c := range conns {
			c.Close()
		}
	}()
	for i := range many {
		conn := b.dial()
		conns = append(conns, conn)
		if i%2 == 0 {
			if _, err := conn.Write(unsigned); err != nil {
				t.Fatal(err)
			}
		}
	}
	for i, conn := range conns {
		if i%2 == 0 {
			resp, err := http.ReadResponse(bufio.NewReaderSize(conn, 512), &http.Request{Method: "HEAD"})
			if err != nil || resp.StatusCode != 401 {
				t.Fatalf("connection %d: %v, %v, want an answer", i, resp, err)
			}
		}
	}
	b.put("orders", "a")
	used := memoryInUse() - before
	t.Logf("%d idle connections: %d KiB each", many, used/uint64(many)>>10)
	if used/uint64(many) > 64<<10 {
		t.Errorf("an idle connection takes %d KiB, want at most 64", used/uint64(many)>>10)
	}
	for _, c := range conns {
		c.Close()
	}
	conns = nil
	if err := b.server.Close(); err != nil {
		t.Error(err)
	}
	if n := runtime.NumGoroutine(); n > goroutines+100 {
		t.Errorf("%d goroutines are left, %d before", n, goroutines)
	}
}

func memoryInUse() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse + m.StackInuse
}
