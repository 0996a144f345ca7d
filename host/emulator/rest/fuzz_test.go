package rest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/xml"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/redeliver/redeliver/host/clock"
	emulator "github.com/redeliver/redeliver/host/emulator/storage"
)

// newFuzzServer returns the queue server of the development account, with a queue
// named orders, and its storage.
func newFuzzServer(f *testing.F) (*front, *emulator.Storage) {
	clk := clock.System()
	storage := emulator.New(clk, nil)
	if err := storage.Queue("orders").Create(context.Background()); err != nil {
		f.Fatal(err)
	}
	s, err := NewServer(clk, &Options{Accounts: []Account{{
		Name: DevAccount, Keys: []string{DevKey}, Queues: storage, QueueAdmin: storage,
	}}})
	if err != nil {
		f.Fatal(err)
	}
	return s.fronts[0], storage
}

// FuzzUnsignedRequest: every request has an answer, errors have codes, and a
// caller without a key changes nothing.
func FuzzUnsignedRequest(f *testing.F) {
	for _, seed := range []string{
		"GET /devstoreaccount1?comp=list HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"PUT /devstoreaccount1/orders-2 HTTP/1.1\r\nHost: localhost\r\nx-ms-meta-a: b\r\nAuthorization: SharedKey devstoreaccount1:AAAA\r\n\r\n",
		"POST /orders/messages HTTP/1.1\r\nHost: devstoreaccount1.queue.localhost\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n<a/>\n\r\n0\r\n\r\n",
		"DELETE /devstoreaccount1-secondary/orders/messages/%2F..?popreceipt=%zz HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"GET /devstoreaccount1/orders/messages?sv=2021-12-02&ss=q&srt=sco&sp=rwdlacup&se=2099-01-01&sig=AAAA HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"GET /devstoreaccount1/orders/messages?sv=2021-12-02&sp=raup&se=2099-01-01&si=a&sip=1-2&spr=http&sig=AAAA HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"OPTIONS /devstoreaccount1/ HTTP/1.1\r\nHost: localhost\r\nOrigin: a\r\nAccess-Control-Request-Method: GET\r\n\r\n",
	} {
		f.Add([]byte(seed))
	}
	server, storage := newFuzzServer(f)
	f.Fuzz(func(t *testing.T, raw []byte) {
		r, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(raw)))
		if err != nil {
			return
		}
		r.RemoteAddr = "127.0.0.1:1"
		w := httptest.NewRecorder()
		server.ServeHTTP(w, r)
		code := w.Header().Get("X-Ms-Error-Code")
		if w.Code < 400 || w.Code >= 500 || code == "" || strings.ContainsAny(code, " <") {
			t.Fatalf("answer %d %q to an unsigned request", w.Code, code)
		}
		if names, err := storage.Queues(context.Background()); err != nil || len(names) != 1 {
			t.Fatalf("queues are %q, %v after an unsigned request", names, err)
		}
	})
}

// FuzzSharedKey: what is signed as documented is let in, in whatever way the
// path and the query are escaped; with one bit of the signature changed it is not.
func FuzzSharedKey(f *testing.F) {
	f.Add("orders", "comp=metadata&x=%2F+a", "x-ms-meta-a", " b ")
	f.Add("or%64ers/messages/%e2%82%ac", "a=2&A=1&a=", "Range", "bytes=0-1")
	server, _ := newFuzzServer(f)
	key, err := Account{Name: DevAccount, Keys: []string{DevKey}}.served()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, path, query, name, value string) {
		raw := "GET /" + DevAccount + "/" + path + "?" + query + " HTTP/1.1\r\nHost: localhost\r\n" + name + ": " + value + "\r\n\r\n"
		r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(raw)))
		if err != nil || r.Header.Get("Authorization") != "" || strings.EqualFold(name, "X-Ms-Version") {
			return
		}
		c := &call{front: server, w: httptest.NewRecorder(), r: r}
		if c.locate() != nil {
			return
		}
		text := sharedKeyText(r, signedHeaders(r.Header, compareNames), DevAccount, signedPaths(c)[0], signedLengths(r)[0])
		signature := signatureOf(key.keys[0], text)
		if err := byKey(c, "SharedKey", DevAccount+":"+signature); err != nil {
			t.Errorf("signed as documented: %v", err)
		}
		changed := []byte(signature)
		changed[0] ^= 1
		if err := byKey(c, "SharedKey", DevAccount+":"+string(changed)); err == nil {
			t.Error("a changed signature is let in")
		}
	})
}

func FuzzMessageDocument(f *testing.F) {
	f.Add([]byte("<QueueMessage><MessageText>a &lt; b</MessageText></QueueMessage>"))
	f.Add([]byte("<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<QueueMessage><MessageText>a\tb\n</MessageText></QueueMessage>"))
	f.Add([]byte("<?xml version='1.0'?><!-- x --><QueueMessage><MessageText><![CDATA[x]]></MessageText></QueueMessage>"))
	f.Fuzz(func(t *testing.T, b []byte) {
		text, err := parseMessage(b)
		if plain, ok := parsePlainMessage(b); ok {
			var document struct {
				XMLName     xml.Name `xml:"QueueMessage"`
				MessageText string
			}
			if err := decodeXML(b, &document); err != nil || document.MessageText != plain {
				t.Fatalf("text %q is read, by the book it is %q, %v", plain, document.MessageText, err)
			}
		}
		if err != nil || text == nil {
			return
		}
		again := append([]byte("<QueueMessage>"), appendElement(nil, "MessageText", *text)...)
		second, err := parseMessage(append(again, "</QueueMessage>"...))
		if err != nil || second == nil || *second != *text {
			t.Errorf("text %q comes back as %v, %v", *text, second, err)
		}
	})
}

func FuzzPolicies(f *testing.F) {
	f.Add([]byte("<SignedIdentifiers><SignedIdentifier><Id>a</Id><AccessPolicy><Start>2030-01-01</Start><Expiry>2031-01-01T01:02:03.1234567Z</Expiry><Permission>raup</Permission></AccessPolicy></SignedIdentifier></SignedIdentifiers>"))
	f.Fuzz(func(t *testing.T, b []byte) {
		policies, err := parsePolicies(b, queueLetters)
		if err != nil {
			return
		}
		for i := range policies { // a document has times to seven digits
			policies[i].Start = policies[i].Start.Truncate(100 * time.Nanosecond)
			policies[i].Expiry = policies[i].Expiry.Truncate(100 * time.Nanosecond)
		}
		again, err := parsePolicies(policiesDocument(policies), queueLetters)
		if err != nil || len(again)+len(policies) > 0 && !reflect.DeepEqual(again, policies) {
			t.Errorf("policies %+v come back as %+v, %v", policies, again, err)
		}
	})
}

func FuzzProperties(f *testing.F) {
	f.Add([]byte("<StorageServiceProperties><Logging><Version>1.0</Version><Delete>true</Delete></Logging><Cors><CorsRule><AllowedOrigins>*</AllowedOrigins><AllowedMethods>GET</AllowedMethods></CorsRule></Cors></StorageServiceProperties>"))
	f.Add([]byte("<StorageServiceProperties><Metrics><Enabled>true</Enabled><IncludeAPIs>true</IncludeAPIs><RetentionPolicy><Enabled>true</Enabled><Days>7</Days></RetentionPolicy></Metrics><StaticWebsite><Enabled>true</Enabled><IndexDocument>i</IndexDocument></StaticWebsite></StorageServiceProperties>"))
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := parseProperties(b)
		if err != nil {
			return
		}
		document := propertiesDocument(p)
		again, err := parseProperties(document)
		if err != nil || !bytes.Equal(propertiesDocument(again), document) {
			t.Errorf("properties %s come back as %s, %v", document, propertiesDocument(again), err)
		}
	})
}

func FuzzParseAccounts(f *testing.F) {
	f.Add("a:" + DevKey + ";b:" + DevKey + ":" + DevKey)
	f.Fuzz(func(t *testing.T, s string) {
		accounts, err := ParseAccounts(s)
		for _, a := range accounts {
			if _, bad := a.served(); bad != nil && err == nil {
				t.Errorf("account %+v: %v", a, bad)
			}
		}
	})
}
