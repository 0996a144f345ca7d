package rest

import (
	"bufio"
	"bytes"
	"encoding/xml"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/redeliver/redeliver/host/clock"
)

// FuzzSharedKey: what is signed as documented is let in, in whatever way the
// path and the query are escaped; with one bit of the signature changed it is not.
func FuzzSharedKey(f *testing.F) {
	f.Add("orders", "comp=metadata&x=%2F+a", "x-ms-meta-a", " b ")
	f.Add("or%64ers/messages/%e2%82%ac", "a=2&A=1&a=", "Range", "bytes=0-1")
	a := Account{Name: DevAccount, Keys: []string{DevKey}}
	server, err := NewServer(clock.System(), &Options{Accounts: []Account{a}}, &Service{
		Name: "toy", Port: func(*Options) int { return 0 }, Serves: func(*Account) bool { return true },
	})
	if err != nil {
		f.Fatal(err)
	}
	key, err := a.served()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, path, query, name, value string) {
		raw := "GET /" + DevAccount + "/" + path + "?" + query + " HTTP/1.1\r\nHost: localhost\r\n" + name + ": " + value + "\r\n\r\n"
		r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(raw)))
		if err != nil || r.Header.Get("Authorization") != "" || strings.EqualFold(name, "X-Ms-Version") {
			return
		}
		c := &Call{front: server.fronts[0], W: httptest.NewRecorder(), R: r}
		if c.locate() != nil {
			return
		}
		text := sharedKeyText(r, signedHeaders(r.Header, compareNames), DevAccount, SignedPaths(c)[0], signedLengths(r)[0])
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
		text, err := ParseMessage(b)
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
		again := append([]byte("<QueueMessage>"), AppendElement(nil, "MessageText", *text)...)
		second, err := ParseMessage(append(again, "</QueueMessage>"...))
		if err != nil || second == nil || *second != *text {
			t.Errorf("text %q comes back as %v, %v", *text, second, err)
		}
	})
}

func FuzzPolicies(f *testing.F) {
	f.Add([]byte("<SignedIdentifiers><SignedIdentifier><Id>a</Id><AccessPolicy><Start>2030-01-01</Start><Expiry>2031-01-01T01:02:03.1234567Z</Expiry><Permission>raup</Permission></AccessPolicy></SignedIdentifier></SignedIdentifiers>"))
	f.Fuzz(func(t *testing.T, b []byte) {
		policies, err := ParsePolicies(b, "raup")
		if err != nil {
			return
		}
		for i := range policies { // a document has times to seven digits
			policies[i].Start = policies[i].Start.Truncate(100 * time.Nanosecond)
			policies[i].Expiry = policies[i].Expiry.Truncate(100 * time.Nanosecond)
		}
		again, err := ParsePolicies(PoliciesDocument(policies), "raup")
		if err != nil || len(again)+len(policies) > 0 && !reflect.DeepEqual(again, policies) {
			t.Errorf("policies %+v come back as %+v, %v", policies, again, err)
		}
	})
}

func FuzzProperties(f *testing.F) {
	f.Add([]byte("<StorageServiceProperties><Logging><Version>1.0</Version><Delete>true</Delete></Logging><Cors><CorsRule><AllowedOrigins>*</AllowedOrigins><AllowedMethods>GET</AllowedMethods></CorsRule></Cors></StorageServiceProperties>"))
	f.Add([]byte("<StorageServiceProperties><Metrics><Enabled>true</Enabled><IncludeAPIs>true</IncludeAPIs><RetentionPolicy><Enabled>true</Enabled><Days>7</Days></RetentionPolicy></Metrics><StaticWebsite><Enabled>true</Enabled><IndexDocument>i</IndexDocument></StaticWebsite></StorageServiceProperties>"))
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := ParseProperties(b)
		if err != nil {
			return
		}
		document := PropertiesDocument(p)
		again, err := ParseProperties(document)
		if err != nil || !bytes.Equal(PropertiesDocument(again), document) {
			t.Errorf("properties %s come back as %s, %v", document, PropertiesDocument(again), err)
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
