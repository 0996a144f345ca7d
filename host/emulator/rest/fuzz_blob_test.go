package rest

import (
	"bufio"
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/redeliver/redeliver/bindings/blob"
	storageapi "github.com/redeliver/redeliver/bindings/storage"
	"github.com/redeliver/redeliver/host/clock"
	emulator "github.com/redeliver/redeliver/host/emulator/storage"
)

// newFuzzBlobServer returns the blob server of the development account, with a
// container named box that has one blob.
func newFuzzBlobServer(f testing.TB) (*front, *emulator.Storage) {
	clk, ctx := clock.System(), context.Background()
	storage := emulator.New(clk, nil)
	if _, err := storage.Container("box").Create(ctx, nil); err != nil {
		f.Fatal(err)
	}
	if _, err := storage.Container("box").Blob("a/b").Put(ctx, strings.NewReader("text"), nil); err != nil {
		f.Fatal(err)
	}
	s, err := NewServer(clk, &Options{QueuePort: -1, Accounts: []Account{{Name: DevAccount, Keys: []string{DevKey}, Blobs: storage}}}, BlobService())
	if err != nil {
		f.Fatal(err)
	}
	return s.fronts[0], storage
}

// FuzzUnsignedBlobRequest is FuzzUnsignedRequest at the blob server.
func FuzzUnsignedBlobRequest(f *testing.F) {
	for _, seed := range []string{
		"GET /devstoreaccount1?comp=list HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"PUT /devstoreaccount1/box/../c HTTP/1.1\r\nHost: localhost\r\nx-ms-blob-type: BlockBlob\r\nContent-Length: 1\r\n\r\nx",
		"PUT /devstoreaccount1/box/a%2fb?comp=blocklist HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n<a/>\n\r\n0\r\n\r\n",
		"PUT /devstoreaccount1/box/a?comp=lease HTTP/1.1\r\nHost: localhost\r\nx-ms-lease-action: acquire\r\nx-ms-lease-duration: -1\r\n\r\n",
		"GET /box/a/b?sv=2021-12-02&sr=b&sp=rwd&se=2099-01-01&sig=AAAA&snapshot=x HTTP/1.1\r\nHost: devstoreaccount1.blob.localhost\r\nRange: bytes=0-\r\n\r\n",
		"DELETE /devstoreaccount1-secondary/%5c..?restype=container HTTP/1.1\r\nHost: localhost\r\n\r\n",
	} {
		f.Add([]byte(seed))
	}
	server, storage := newFuzzBlobServer(f)
	f.Fuzz(func(t *testing.T, raw []byte) {
		r, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(raw)))
		if err != nil {
			return
		}
		r.RemoteAddr = "127.0.0.1:1"
		w := httptest.NewRecorder()
		server.ServeHTTP(w, r)
		code := w.Header().Get("X-Ms-Error-Code")
		if w.Code < 400 || code == "" || strings.ContainsAny(code, " <") || w.Code >= 500 && code != string(storageapi.CodeNotImplemented) {
			t.Fatalf("answer %d %q to an unsigned request", w.Code, code)
		}
		page, err := storage.Container("box").Blobs(context.Background(), &blob.ListOptions{Include: blob.ListInclude{Uncommitted: true, Snapshots: true}})
		if err != nil || len(page.Blobs) != 1 || page.Blobs[0].Properties.ContentLength != 4 {
			t.Fatalf("blobs are %v, %v after an unsigned request", page, err)
		}
	})
}

// FuzzBlockList: what is read from a block list, written again, is read alike.
func FuzzBlockList(f *testing.F) {
	f.Add([]byte("<?xml version='1.0'?><BlockList><Latest>QQ==</Latest><Committed> Qg== </Committed><Uncommitted/></BlockList>"))
	f.Add([]byte("<BlockList><Other>x</Other></BlockList>"))
	f.Fuzz(func(t *testing.T, b []byte) {
		refs, err := parseBlockList(b)
		if err != nil {
			return
		}
		names := map[blob.BlockSource]string{blob.Latest: "Latest", blob.Committed: "Committed", blob.Uncommitted: "Uncommitted"}
		again := []byte("<BlockList>")
		for _, ref := range refs {
			again = AppendElement(again, names[ref.From], ref.ID)
		}
		second, err := parseBlockList(append(again, "</BlockList>"...))
		if err != nil || !reflect.DeepEqual(second, refs) {
			t.Errorf("blocks %v come back as %v, %v", refs, second, err)
		}
	})
}

// FuzzSAS: an account signature made as documented is let in whatever its fields
// are escaped like, if its terms allow; with a field changed it is not.
func FuzzSAS(f *testing.F) {
	f.Add("rwdlacup", "qb", "sco", "", "2099-01-01T00:00:00Z", "", "https,http", "2021-12-02")
	f.Add("r", "b", "o", "2020-01-01", "2020-01-02", "127.0.0.1-127.0.0.9", "http", "2019-02-02")
	f.Add("", "", "", "\n", "x", "::1", "ftp", "")
	server, _ := newFuzzBlobServer(f)
	key, err := Account{Name: DevAccount, Keys: []string{DevKey}}.served()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, sp, ss, srt, st, se, sip, spr, sv string) {
		fields := url.Values{"sp": {sp}, "ss": {ss}, "srt": {srt}, "st": {st}, "se": {se}, "sip": {sip}, "spr": {spr}, "sv": {sv}}
		fields.Set("sig", signatureOf(key.keys[0], sas{fields}.accountText(DevAccount)))
		ask := func() *httptest.ResponseRecorder {
			r := httptest.NewRequest("GET", "http://localhost/devstoreaccount1/box/a/b?"+fields.Encode(), nil)
			r.RemoteAddr = "127.0.0.1:1"
			w := httptest.NewRecorder()
			server.ServeHTTP(w, r)
			return w
		}
		w := ask()
		good := false
		if expiry, ok := parseSASTime(se); ok && expiry.After(time.Now()) && st == "" && sip == "" && spr == "" {
			good = sv != "" && strings.Contains(sp, "r") && strings.Contains(ss, "b") && strings.Contains(srt, "o")
		}
		if good && w.Code != 200 || w.Code != 200 && w.Code != 403 {
			t.Errorf("answer %d %s", w.Code, w.Header().Get("X-Ms-Error-Code"))
		}
		fields.Set("sp", sp+"w")
		if w := ask(); w.Code != 403 {
			t.Errorf("answer %d to a signature of other permissions", w.Code)
		}
	})
}

// FuzzAccounts: what ParseAccounts takes can be served, and its connection
// strings name the account.
func FuzzAccounts(f *testing.F) {
	f.Add("a:" + DevKey + ";b:" + DevKey + ":" + DevKey + ";")
	f.Add(";;:;a:b:c:d")
	f.Fuzz(func(t *testing.T, value string) {
		accounts, err := ParseAccounts(value)
		if err != nil {
			return
		}
		for _, a := range accounts {
			if _, err := a.served(); err != nil || !strings.Contains(a.ConnectionString("http://x"), "AccountName="+a.Name+";") {
				t.Errorf("account %+v: %v", a, err)
			}
		}
	})
}
