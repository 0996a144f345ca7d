package rest_test

import (
	"bufio"
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/rest"
	"github.com/redeliver/redeliver/host/emulator/rest/served"
	emulator "github.com/redeliver/redeliver/host/emulator/storage"
)

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
	clk := clock.System()
	storage := emulator.New(clk, nil)
	if err := storage.Queue("orders").Create(context.Background()); err != nil {
		f.Fatal(err)
	}
	s, err := served.NewServer(clk, &rest.Options{Accounts: []rest.Account{{
		Name: rest.DevAccount, Keys: []string{rest.DevKey}, Queues: storage, QueueAdmin: storage,
	}}})
	if err != nil {
		f.Fatal(err)
	}
	server := s.Front("queue")
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
