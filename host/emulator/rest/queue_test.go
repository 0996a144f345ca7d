package rest_test

import (
	"context"
	"encoding/xml"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// The rows of spec storage 16, in its order: what each operation answers when all
// is well, and on a queue that does not exist.

func TestQueueOperations(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.want(404, "QueueNotFound", "DELETE", "/orders", "")
	b.want(404, "QueueNotFound", "GET", "/orders?comp=metadata", "")
	b.want(404, "QueueNotFound", "PUT", "/orders?comp=metadata", "")
	b.want(404, "QueueNotFound", "GET", "/orders?comp=acl", "")
	b.want(404, "QueueNotFound", "PUT", "/orders?comp=acl", "")
	b.want(404, "QueueNotFound", "POST", "/orders/messages", message("a"))
	b.want(404, "QueueNotFound", "GET", "/orders/messages", "")
	b.want(404, "QueueNotFound", "GET", "/orders/messages?peekonly=true", "")
	b.want(404, "QueueNotFound", "PUT", "/orders/messages/id?popreceipt=x&visibilitytimeout=0", "")
	b.want(404, "QueueNotFound", "DELETE", "/orders/messages/id?popreceipt=x", "")
	b.want(404, "QueueNotFound", "DELETE", "/orders/messages", "")

	b.want(201, "", "PUT", "/orders", "")
	b.want(204, "", "PUT", "/orders", "")
	b.want(200, "", "GET", "/orders?comp=metadata", "")
	b.want(200, "", "HEAD", "/orders?comp=metadata", "")
	b.want(204, "", "PUT", "/orders?comp=metadata", "")
	b.want(200, "", "GET", "/orders?comp=acl", "")
	b.want(200, "", "HEAD", "/orders?comp=acl", "")
	b.want(204, "", "PUT", "/orders?comp=acl", "")
	b.want(200, "", "GET", "/orders/messages", "")
	m := b.put("orders", "a")
	b.want(200, "", "GET", "/orders/messages?peekonly=true", "")
	updated := b.want(204, "", "PUT", "/orders/messages/"+m.MessageID+query("popreceipt", *m.PopReceipt, "visibilitytimeout", "60"), message("b"))
	if got, want := updated.Header.Get("X-Ms-Time-Next-Visible"), "Wed, 02 Jan 2030 03:05:05 GMT"; got != want {
		t.Errorf("x-ms-time-next-visible = %q, want %q", got, want)
	}
	receipt := updated.Header.Get("X-Ms-Popreceipt")
	b.want(400, "PopReceiptMismatch", "DELETE", "/orders/messages/"+m.MessageID+query("popreceipt", *m.PopReceipt), "")
	b.want(204, "", "DELETE", "/orders/messages/"+m.MessageID+query("popreceipt", receipt), "")
	b.want(404, "MessageNotFound", "DELETE", "/orders/messages/"+m.MessageID+query("popreceipt", receipt), "")
	b.want(404, "MessageNotFound", "PUT", "/orders/messages/"+m.MessageID+query("popreceipt", receipt, "visibilitytimeout", "0"), "")
	b.put("orders", "c")
	b.want(204, "", "DELETE", "/orders/messages", "")
	if ms := b.want(200, "", "GET", "/orders/messages?peekonly=true", "").messages(t); len(ms) != 0 {
		t.Errorf("%d messages after a clear", len(ms))
	}
	b.want(204, "", "DELETE", "/orders", "")
	b.want(201, "", "PUT", "/orders", "")
}

func TestUnknownVerbsAndResources(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.create("orders")
	for _, row := range []struct {
		method, path string
		status       int
		code         string
	}{
		{"POST", "/orders", 405, "UnsupportedHttpVerb"},
		{"GET", "/orders", 405, "UnsupportedHttpVerb"},
		{"PATCH", "/orders/messages", 405, "UnsupportedHttpVerb"},
		{"PUT", "/orders/messages", 405, "UnsupportedHttpVerb"},
		{"GET", "/orders/messages/id", 405, "UnsupportedHttpVerb"},
		{"DELETE", "/?comp=list", 405, "UnsupportedHttpVerb"},
		{"GET", "/", 400, "InvalidQueryParameterValue"},
		{"GET", "/?comp=nothing", 400, "InvalidQueryParameterValue"},
		{"PUT", "/orders?comp=nothing", 400, "InvalidQueryParameterValue"},
		{"GET", "/orders/nothing", 404, "ResourceNotFound"},
		{"DELETE", "/orders/messages/id/more", 404, "ResourceNotFound"},
		{"PUT", "/ab", 400, "OutOfRangeInput"},
		{"PUT", "/" + strings.Repeat("q", 64), 400, "OutOfRangeInput"},
		{"PUT", "/Orders", 400, "InvalidResourceName"},
		{"PUT", "/or--ders", 400, "InvalidResourceName"},
		{"PUT", "/-orders", 400, "InvalidResourceName"},
		{"PUT", "/ord%2Fers", 400, "InvalidResourceName"},
		{"PUT", "/%2E%2E%2Fother", 400, "InvalidResourceName"},
		{"PUT", "/ordérs", 400, "InvalidResourceName"},
	} {
		b.want(row.status, row.code, row.method, row.path, "")
	}
}

func TestParametersOfMessages(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.create("orders")
	const outside, invalid = "OutOfRangeQueryParameterValue", "InvalidQueryParameterValue"
	m := b.put("orders", "a")
	message1 := "/orders/messages/" + m.MessageID
	receipt := query("popreceipt", *m.PopReceipt)
	for _, row := range []struct {
		method, path string
		code         string // "": accepted
		parameter    string
		least, most  string
	}{
		{"GET", "/orders/messages?numofmessages=0", outside, "numofmessages", "1", "32"},
		{"GET", "/orders/messages?numofmessages=33", outside, "numofmessages", "1", "32"},
		{"GET", "/orders/messages?numofmessages=-1", outside, "numofmessages", "1", "32"},
		{"GET", "/orders/messages?numofmessages=many", invalid, "numofmessages", "", ""},
		{"GET", "/orders/messages?numofmessages=", invalid, "numofmessages", "", ""},
		{"GET", "/orders/messages?peekonly=true&numofmessages=33", outside, "numofmessages", "1", "32"},
		{"GET", "/orders/messages?peekonly=true&numofmessages=32", "", "", "", ""},
		{"GET", "/orders/messages?visibilitytimeout=0", outside, "visibilitytimeout", "1", "604800"},
		{"GET", "/orders/messages?visibilitytimeout=604801", outside, "visibilitytimeout", "1", "604800"},
		{"POST", "/orders/messages?visibilitytimeout=-1", outside, "visibilitytimeout", "0", "604800"},
		{"POST", "/orders/messages?visibilitytimeout=604801&messagettl=-1", outside, "visibilitytimeout", "0", "604800"},
		{"POST", "/orders/messages?visibilitytimeout=604800", invalid, "visibilitytimeout", "", ""},
		{"POST", "/orders/messages?visibilitytimeout=604800&messagettl=-1", "", "", "", ""},
		{"POST", "/orders/messages?visibilitytimeout=10&messagettl=10", invalid, "visibilitytimeout", "", ""},
		{"POST", "/orders/messages?visibilitytimeout=9&messagettl=10", "", "", "", ""},
		{"POST", "/orders/messages?messagettl=0", invalid, "messagettl", "", ""},
		{"POST", "/orders/messages?messagettl=-2", invalid, "messagettl", "", ""},
		{"POST", "/orders/messages?messagettl=1", "", "", "", ""},
		{"POST", "/orders/messages?messagettl=99999999999999999999", invalid, "messagettl", "", ""},
		{"POST", "/orders/messages?messagettl=9223372036854775807", "", "", "", ""},
		{"PUT", message1 + receipt + "&visibilitytimeout=-1", outside, "visibilitytimeout", "0", "604800"},
		{"PUT", message1 + receipt + "&visibilitytimeout=604801", outside, "visibilitytimeout", "0", "604800"},
		{"PUT", message1 + receipt, "MissingRequiredQueryParameter", "visibilitytimeout", "", ""},
		{"PUT", message1 + "?visibilitytimeout=0", "MissingRequiredQueryParameter", "popreceipt", "", ""},
		{"DELETE", message1, "MissingRequiredQueryParameter", "popreceipt", "", ""},
		{"PUT", message1 + receipt + "&visibilitytimeout=604800", "", "", "", ""},
	} {
		body := ""
		if row.method == "POST" {
			body = message("a")
		}
		a := b.call(row.method, row.path, body)
		if row.code == "" {
			if a.Status >= 300 {
				t.Errorf("%s %s = %d %s, want success", row.method, row.path, a.Status, a.Code)
			}
			continue
		}
		if a.Status != 400 || a.Code != row.code {
			t.Errorf("%s %s = %d %s, want 400 %s", row.method, row.path, a.Status, a.Code, row.code)
			continue
		}
		got := []string{a.detail(t, "QueryParameterName"), a.detail(t, "MinimumAllowed"), a.detail(t, "MaximumAllowed")}
		if want := []string{row.parameter, row.least, row.most}; !cmp.Equal(got, want) {
			t.Errorf("%s %s: details %q, want %q", row.method, row.path, got, want)
		}
		if row.code == invalid && a.detail(t, "Reason") == "" {
			t.Errorf("%s %s: no Reason", row.method, row.path)
		}
	}
}

func TestDefaultsOfMessages(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.create("orders")
	m := b.put("orders", "a")
	if m.InsertionTime != "Wed, 02 Jan 2030 03:04:05 GMT" || m.ExpirationTime != "Wed, 09 Jan 2030 03:04:05 GMT" || *m.TimeNextVisible != m.InsertionTime {
		t.Errorf("put = %+v, want 7 days of life, visible at once", m)
	}
	b.put("orders", "b")
	ms := b.want(200, "", "GET", "/orders/messages", "").messages(t)
	if len(ms) != 1 || *ms[0].TimeNextVisible != "Wed, 02 Jan 2030 03:04:35 GMT" {
		t.Errorf("get = %+v, want one message for 30 s", ms)
	}
	never := b.want(201, "", "POST", "/orders/messages?messagettl=-1", message("c")).messages(t)[0]
	if never.ExpirationTime != "Fri, 31 Dec 9999 23:59:59 GMT" {
		t.Errorf("expiry of a message that never expires = %q", never.ExpirationTime)
	}
}

// The fields that each answer has, and lacks (spec storage 16.2).
func TestShapesOfMessages(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.create("orders")
	put := b.put("orders", "a <b> & \"c\"")
	if put.MessageID == "" || put.PopReceipt == nil || put.TimeNextVisible == nil || put.MessageText != nil || put.DequeueCount != nil {
		t.Errorf("put = %+v, want no text and no count", put)
	}
	peek := b.want(200, "", "GET", "/orders/messages?peekonly=true", "").messages(t)[0]
	if peek.PopReceipt != nil || peek.TimeNextVisible != nil || *peek.MessageText != "a <b> & \"c\"" || *peek.DequeueCount != 0 {
		t.Errorf("peek = %+v, want no receipt and no next-visible time", peek)
	}
	// References by number, which a SDK's parser may not know, are not used.
	if a := b.want(200, "", "GET", "/orders/messages?peekonly=true", ""); !strings.Contains(a.Body, `<MessageText>a &lt;b&gt; &amp; "c"</MessageText>`) {
		t.Errorf("escapes in %s", a.Body)
	}
	get := b.want(200, "", "GET", "/orders/messages", "").messages(t)[0]
	if get.PopReceipt == nil || *get.PopReceipt == *put.PopReceipt || get.TimeNextVisible == nil || *get.DequeueCount != 1 || get.MessageText == nil {
		t.Errorf("get = %+v", get)
	}
	if a := b.want(200, "", "GET", "/orders/messages", ""); !strings.HasSuffix(a.Body, "<QueueMessagesList></QueueMessagesList>") {
		t.Errorf("empty get = %q", a.Body)
	}
}

func TestBodiesOfMessages(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.create("orders")
	for _, row := range []struct {
		name, body string
		status     int
		code       string
		text       string
	}{
		{"declaration", `<?xml version="1.0" encoding="utf-8"?><QueueMessage><MessageText>a</MessageText></QueueMessage>`, 201, "", "a"},
		{"byte order mark", "\ufeff<QueueMessage><MessageText>a</MessageText></QueueMessage>", 201, "", "a"},
		{"blanks around", "<QueueMessage>\n  <MessageText>a</MessageText>\n</QueueMessage>\n", 201, "", "a"},
		{"blanks inside", "<QueueMessage><MessageText> a\t </MessageText></QueueMessage>", 201, "", " a\t "},
		{"empty text", "<QueueMessage><MessageText></MessageText></QueueMessage>", 201, "", ""},
		{"empty element", "<QueueMessage><MessageText/></QueueMessage>", 201, "", ""},
		{"CDATA", "<QueueMessage><MessageText><![CDATA[<a>&]]></MessageText></QueueMessage>", 201, "", "<a>&"},
		{"references", "<QueueMessage><MessageText>&lt;&#13;&#x1F600;</MessageText></QueueMessage>", 201, "", "<\r\U0001F600"},
		{"no text", "<QueueMessage></QueueMessage>", 400, "InvalidXmlDocument", ""},
		{"no body", "", 400, "InvalidXmlDocument", ""},
		{"no XML", "hello", 400, "InvalidXmlDocument", ""},
		{"cut short", "<QueueMessage><MessageText>a", 400, "InvalidXmlDocument", ""},
		{"other document", "<Message><MessageText>a</MessageText></Message>", 400, "InvalidXmlDocument", ""},
		{"two documents", message("a") + message("b"), 400, "InvalidXmlDocument", ""},
		{"unknown entity", "<QueueMessage><MessageText>&nbsp;</MessageText></QueueMessage>", 400, "InvalidXmlDocument", ""},
		{"control character", "<QueueMessage><MessageText>\x01</MessageText></QueueMessage>", 400, "InvalidXmlDocument", ""},
		{"not UTF-8", "<QueueMessage><MessageText>\xff</MessageText></QueueMessage>", 400, "InvalidXmlDocument", ""},
		{"64 KiB", message(strings.Repeat("é", 32<<10)), 201, "", strings.Repeat("é", 32<<10)},
		{"64 KiB escaped", message(strings.Repeat("&", 64<<10)), 201, "", strings.Repeat("&", 64<<10)},
		{"64 KiB and a byte", message(strings.Repeat("x", 64<<10+1)), 413, "RequestBodyTooLarge", ""},
		{"2 MiB", message(strings.Repeat("x", 2<<20)), 413, "RequestBodyTooLarge", ""},
	} {
		a := b.call("POST", "/orders/messages", row.body)
		if a.Status != row.status || a.Code != row.code {
			t.Errorf("%s: %d %s, want %d %s", row.name, a.Status, a.Code, row.status, row.code)
		}
		if a.Status == 413 && a.detail(t, "MaxLimit") != "65536" {
			t.Errorf("%s: want MaxLimit 65536, got %s", row.name, a.Body)
		}
		ms := b.want(200, "", "GET", "/orders/messages", "").messages(t)
		if row.status != 201 {
			if len(ms) != 0 {
				t.Errorf("%s: the refused put left a message", row.name)
			}
			continue
		}
		if len(ms) != 1 || *ms[0].MessageText != row.text {
			t.Errorf("%s: got %d messages, want the text %.40q", row.name, len(ms), row.text)
		}
	}
}

func TestUpdateKeepsOrErasesTheText(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.create("orders")
	for _, row := range []struct{ name, body, want string }{
		{"no body", "", "a"},
		{"no element", "<QueueMessage/>", "a"},
		{"a text", message("b"), "b"},
		{"an empty text", message(""), ""},
	} {
		m := b.put("orders", "a")
		u := b.want(204, "", "PUT", "/orders/messages/"+m.MessageID+query("popreceipt", *m.PopReceipt, "visibilitytimeout", "0"), row.body)
		got := b.want(200, "", "GET", "/orders/messages", "").messages(t)[0]
		if *got.MessageText != row.want || *got.DequeueCount != 1 || u.Header.Get("X-Ms-Popreceipt") == *m.PopReceipt {
			t.Errorf("%s: text %q, count %d, want %q, 1, a new receipt", row.name, *got.MessageText, *got.DequeueCount, row.want)
		}
	}
}

// The life of a message as the clock tells it (spec storage 16.3, S-16).
func TestMessagesLiveByTheClock(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.create("orders")
	b.want(201, "", "POST", "/orders/messages?messagettl=100&visibilitytimeout=10", message("a"))
	visible := func(want int) {
		t.Helper()
		if ms := b.want(200, "", "GET", "/orders/messages?peekonly=true", "").messages(t); len(ms) != want {
			t.Fatalf("%d messages visible at %v, want %d", len(ms), b.clk.Now().Sub(start), want)
		}
	}
	visible(0)
	b.clk.Advance(10 * time.Second)
	visible(1)
	m := b.want(200, "", "GET", "/orders/messages?visibilitytimeout=20", "").messages(t)[0]
	visible(0)
	b.clk.Advance(20 * time.Second)
	visible(1)
	// The lock has ended and nobody else received: the receipt is still good.
	u := b.want(204, "", "PUT", "/orders/messages/"+m.MessageID+query("popreceipt", *m.PopReceipt, "visibilitytimeout", "0"), "")
	again := b.want(200, "", "GET", "/orders/messages", "").messages(t)[0]
	b.want(400, "PopReceiptMismatch", "DELETE", "/orders/messages/"+m.MessageID+query("popreceipt", u.Header.Get("X-Ms-Popreceipt")), "")
	b.clk.Advance(70 * time.Second)
	b.want(404, "MessageNotFound", "DELETE", "/orders/messages/"+m.MessageID+query("popreceipt", *again.PopReceipt), "")
	if n := b.want(200, "", "HEAD", "/orders?comp=metadata", "").Header.Get("X-Ms-Approximate-Messages-Count"); n != "0" {
		t.Errorf("count after expiry = %s", n)
	}
}

func TestGetHandsOutABatchWithReceiptsOfTheirOwn(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.create("orders")
	for i := range 33 {
		b.put("orders", fmt.Sprint(i))
	}
	ms := b.want(200, "", "GET", "/orders/messages?numofmessages=32", "").messages(t)
	seen := map[string]bool{}
	for i, m := range ms {
		seen[*m.PopReceipt] = true
		if *m.MessageText != fmt.Sprint(i) {
			t.Errorf("message %d has text %q: want the order of insertion (S-13)", i, *m.MessageText)
		}
	}
	if len(ms) != 32 || len(seen) != 32 {
		t.Errorf("%d messages, %d receipts, want 32", len(ms), len(seen))
	}
	if n := b.want(200, "", "GET", "/orders?comp=metadata", "").Header.Get("X-Ms-Approximate-Messages-Count"); n != "33" {
		t.Errorf("count = %s, want visible and invisible", n)
	}
}

func TestMetadata(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.want(201, "", "PUT", "/orders", "", header("x-ms-meta-MixedCase", "One"), header("x-ms-meta-_b2", " two "))
	get := func() map[string]string {
		got := map[string]string{}
		for name, values := range rawHeaders(b, "GET", "/orders?comp=metadata") {
			if rest, ok := strings.CutPrefix(name, "x-ms-meta-"); ok {
				got[rest] = values
			}
		}
		return got
	}
	if diff := cmp.Diff(map[string]string{"MixedCase": "One", "_b2": "two"}, get()); diff != "" {
		t.Errorf("metadata keeps its case (-want +got):\n%s", diff)
	}
	b.want(204, "", "PUT", "/orders", "", header("x-ms-meta-mixedcase", "One"), header("x-ms-meta-_B2", "two"))
	b.want(409, "QueueAlreadyExists", "PUT", "/orders", "", header("x-ms-meta-mixedcase", "one"), header("x-ms-meta-_B2", "two"))
	b.want(409, "QueueAlreadyExists", "PUT", "/orders", "")
	b.want(204, "", "PUT", "/orders?comp=metadata", "", header("x-ms-meta-Only", "x"))
	if diff := cmp.Diff(map[string]string{"Only": "x"}, get()); diff != "" {
		t.Errorf("metadata is replaced as a whole (-want +got):\n%s", diff)
	}
	b.want(204, "", "PUT", "/orders?comp=metadata", "")
	if diff := cmp.Diff(map[string]string{}, get()); diff != "" {
		t.Errorf("metadata is removed (-want +got):\n%s", diff)
	}
	for name, code := range map[string]string{"x-ms-meta-1a": "InvalidMetadata", "x-ms-meta-a-b": "InvalidMetadata", "x-ms-meta-": "InvalidMetadata"} {
		b.want(400, code, "PUT", "/orders?comp=metadata", "", header(name, "x"))
		b.want(400, code, "PUT", "/another", "", header(name, "x"))
	}
	b.want(400, "MetadataTooLarge", "PUT", "/orders?comp=metadata", "", header("x-ms-meta-a", strings.Repeat("x", 9000)))
	b.want(404, "QueueNotFound", "GET", "/another?comp=metadata", "")
	b.want(204, "", "DELETE", "/orders", "")
	b.create("orders")
	if diff := cmp.Diff(map[string]string{}, get()); diff != "" {
		t.Errorf("metadata of a queue that was deleted (-want +got):\n%s", diff)
	}
}

func TestListQueues(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	type list struct {
		XMLName         xml.Name `xml:"EnumerationResults"`
		ServiceEndpoint string   `xml:"ServiceEndpoint,attr"`
		Prefix, Marker  string
		MaxResults      string
		Names           []string `xml:"Queues>Queue>Name"`
		Metadata        []struct {
			A string `xml:"a"`
		} `xml:"Queues>Queue>Metadata"`
		NextMarker *string
	}
	get := func(q string) list {
		t.Helper()
		var l list
		a := b.want(200, "", "GET", "/?comp=list"+q, "")
		if err := xml.Unmarshal([]byte(a.Body), &l); err != nil {
			t.Fatalf("%v in %s", err, a.Body)
		}
		return l
	}
	if l := get(""); len(l.Names) != 0 || l.NextMarker == nil || *l.NextMarker != "" || l.ServiceEndpoint != b.endpoint {
		t.Errorf("list of none = %+v", l)
	}
	for _, name := range []string{"beta", "alpha", "beta-2", "gamma", "beta-1"} {
		b.want(201, "", "PUT", "/"+name, "", header("x-ms-meta-a", name))
	}
	for _, row := range []struct {
		query, next, max string
		want             []string
	}{
		{"", "", "5000", []string{"alpha", "beta", "beta-1", "beta-2", "gamma"}},
		{"&prefix=beta", "", "5000", []string{"beta", "beta-1", "beta-2"}},
		{"&prefix=beta&maxresults=2", "beta-2", "2", []string{"beta", "beta-1"}},
		{"&prefix=beta&maxresults=2&marker=beta-2", "", "2", []string{"beta-2"}},
		{"&maxresults=5", "", "5", []string{"alpha", "beta", "beta-1", "beta-2", "gamma"}},
		{"&prefix=zeta", "", "5000", nil},
		{"&prefix=zeta;zeta", "", "5000", nil}, // a semicolon that is not escaped
		{"&maxresults=100000", "", "5000", []string{"alpha", "beta", "beta-1", "beta-2", "gamma"}},
	} {
		l := get(row.query)
		if diff := cmp.Diff(row.want, l.Names); diff != "" || *l.NextMarker != row.next || l.MaxResults != row.max || len(l.Metadata) != 0 {
			t.Errorf("list%s = %+v, next %q, want next %q (-want +got):\n%s", row.query, l, *l.NextMarker, row.next, diff)
		}
	}
	if l := get("&include=metadata"); len(l.Metadata) != 5 || l.Metadata[1].A != "beta" {
		t.Errorf("list with metadata = %+v", l)
	}
	b.want(400, "OutOfRangeQueryParameterValue", "GET", "/?comp=list&maxresults=0", "")
	b.want(400, "OutOfRangeQueryParameterValue", "GET", "/?comp=list&maxresults=-1", "")
	b.want(400, "InvalidQueryParameterValue", "GET", "/?comp=list&maxresults=x", "")
}

// A queue can also be deleted by the functions that use it.
func TestDeletedByItsOwnerDirectly(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.want(201, "", "PUT", "/orders", "", header("x-ms-meta-a", "1"))
	b.do(func(ctx context.Context) {
		if err := b.queue("orders").DeleteQueue(ctx); err != nil {
			t.Error(err)
		}
	})
	b.want(404, "QueueNotFound", "GET", "/orders?comp=metadata", "")
	b.want(201, "", "PUT", "/orders", "")
	if h := b.want(200, "", "GET", "/orders?comp=metadata", "").Header; h.Get("X-Ms-Meta-A") != "" {
		t.Error("the new queue has the metadata of the old one")
	}
}
