package odata_test

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/redeliver/redeliver/bindings/storage"
	"github.com/redeliver/redeliver/host/emulator/rest/odata"
)

const contentType = "multipart/mixed; boundary=b"

// FuzzBatch: whatever a client sends, it is read as a transaction or refused as the service
// does, and what is read has a method and a path.
func FuzzBatch(f *testing.F) {
	for _, body := range []string{
		"", "--b--", "--b\n\n--b--", "--b\r\nContent-Type: application/http\r\n\r\nGET /orders() HTTP/1.1\r\n\r\n\r\n--b--\r\n",
		"--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n--c\r\nContent-Type: application/http\r\nContent-ID: 7\r\n\r\nPOST http://x/orders?a=b HTTP/1.1\r\nPrefer: return-content\r\n\r\n{\"PartitionKey\":\"a\"}\r\n--c--\r\n--b--",
		"--b\ncontent-type: multipart/mixed; boundary=\"c\"\n\n\n--c\n\nDELETE a:// HTTP/1.1\n--c--",
	} {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body string) {
		batch, err := odata.Read(contentType, []byte(body))
		if err != nil {
			if refused := (*storage.Error)(nil); !errors.As(err, &refused) || refused.Status != 400 {
				t.Errorf("refused with %v", err)
			}
			return
		}
		for _, p := range batch.Parts {
			if p.Method == "" || strings.ContainsAny(p.Method+p.Path, "\n") || batch.Query != (p.Method == "GET") {
				t.Errorf("read %+v", p)
			}
			if _, err := odata.Parse(p.Path); err != nil && storage.CodeOf(err) == "" {
				t.Errorf("the path %q is refused with %v", p.Path, err)
			}
			p.Values()
		}
	})
}

// FuzzToken: a key comes back from its token, and a text that is no UTF-8 does not.
func FuzzToken(f *testing.F) {
	for _, key := range []string{"", "a", "p'1", "r ä+%&", "\U0001D11E", "\xFF", strings.Repeat("k", 512)} {
		f.Add(key)
	}
	f.Fuzz(func(t *testing.T, key string) {
		got, err := odata.ParseToken(odata.Token(key))
		if utf8.ValidString(key) != (err == nil) || err == nil && got != key {
			t.Errorf("the token of %q reads as %q, %v", key, got, err)
		}
	})
}
