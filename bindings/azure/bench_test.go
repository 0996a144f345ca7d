package azure_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/azure"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator"
	"github.com/redeliver/redeliver/host/emulator/rest"
)

// BenchmarkQueue measures puts and pairs of get and delete through the SDK, on
// three servers: the floor, which answers the right bytes and does nothing else,
// the embedded service, and Azurite where it is installed. The ratios are of
// interest, not the numbers.
func BenchmarkQueue(b *testing.B) {
	for _, server := range []struct {
		name string
		open func(b *testing.B) string
	}{{"floor", openFloor}, {"embedded", openEmbedded}, {"azurite", openAzurite}} {
		for _, callers := range []int{1, 16} {
			b.Run(fmt.Sprintf("put/%s/callers=%d", server.name, callers), func(b *testing.B) {
				q := benchQueue(b, server.open(b), callers)
				parallel(b, callers, func(ctx context.Context) error {
					_, err := q.Put(ctx, benchText, nil)
					return err
				})
			})
			b.Run(fmt.Sprintf("get+delete/%s/callers=%d", server.name, callers), func(b *testing.B) {
				q := benchQueue(b, server.open(b), callers)
				fill := make(chan struct{}, b.N)
				for range b.N {
					fill <- struct{}{}
				}
				close(fill)
				parallel(b, callers, func(ctx context.Context) error {
					if _, ok := <-fill; !ok {
						return nil
					}
					_, err := q.Put(ctx, benchText, nil)
					return err
				})
				b.ResetTimer()
				parallel(b, callers, func(ctx context.Context) error {
					ms, err := q.Receive(ctx, 1, time.Hour)
					if err != nil {
						return err
					}
					if len(ms) != 1 {
						return fmt.Errorf("got %d messages", len(ms))
					}
					return q.Delete(ctx, ms[0].ID, ms[0].PopReceipt)
				})
			})
		}
	}
}

var benchText = strings.Repeat("x", 256)

func parallel(b *testing.B, callers int, f func(ctx context.Context) error) {
	b.Helper()
	b.SetParallelism(max(1, callers/runtime.GOMAXPROCS(0)))
	if callers == 1 {
		for range b.N {
			if err := f(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
		return
	}
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if err := f(b.Context()); err != nil {
				b.Error(err)
				return
			}
		}
	})
}

func benchQueue(b *testing.B, connectionString string, callers int) bindings.Queue {
	b.Helper()
	transport := &http.Transport{MaxIdleConnsPerHost: callers}
	b.Cleanup(transport.CloseIdleConnections)
	account, err := azure.NewQueueAccount(connectionString, &azure.Options{HTTPClient: &http.Client{Transport: transport}, Retries: -1})
	if err != nil {
		b.Fatal(err)
	}
	q := account.Queue("orders")
	if err := q.Create(b.Context()); err != nil {
		b.Fatal(err)
	}
	return q
}

func openEmbedded(b *testing.B) string {
	clk := clock.NewVirtual(time.Now(), nil)
	clk.Real()
	b.Cleanup(clk.Close)
	storage := emulator.New(clk, nil)
	account := rest.Account{Name: rest.DevAccount, Keys: []string{rest.DevKey}, Queues: storage, QueueAdmin: emulator.NewQueueAdmin(storage)}
	server, err := rest.NewServer(clk, &rest.Options{Accounts: []rest.Account{account}})
	if err != nil {
		b.Fatal(err)
	}
	if err := server.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { server.Close() })
	return account.ConnectionString(server.QueueURL())
}

func openAzurite(b *testing.B) string {
	if _, err := os.Stat(filepath.Join(interop, azuriteMain)); err != nil {
		b.Skip("azurite is not installed below .interop; run make interop")
	}
	return azurite.open(b)
}

// openFloor answers every request with the bytes that the service would send.
func openFloor(b *testing.B) string {
	const (
		date  = "Wed, 02 Jan 2030 03:04:05 GMT"
		times = "<InsertionTime>" + date + "</InsertionTime><ExpirationTime>" + date + "</ExpirationTime><PopReceipt>AAAAAAAAAAAAAAAAAAAAAA==</PopReceipt><TimeNextVisible>" + date + "</TimeNextVisible>"
		head  = `<?xml version="1.0" encoding="utf-8"?><QueueMessagesList><QueueMessage><MessageId>00000000-0000-0000-0000-000000000000</MessageId>` + times
		tail  = "</QueueMessage></QueueMessagesList>"
	)
	put := []byte(head + tail)
	get := []byte(head + "<DequeueCount>1</DequeueCount><MessageText>" + benchText + "</MessageText>" + tail)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		h := w.Header()
		h.Set("X-Ms-Request-Id", "00000000-0000-0000-0000-000000000000")
		h.Set("X-Ms-Version", r.Header.Get("X-Ms-Version"))
		h.Set("Date", date)
		switch r.Method {
		case http.MethodPost:
			h.Set("Content-Type", "application/xml")
			w.WriteHeader(http.StatusCreated)
			w.Write(put)
		case http.MethodGet:
			h.Set("Content-Type", "application/xml")
			w.Write(get)
		default:
			w.WriteHeader(http.StatusNoContent)
		}
	}))
	b.Cleanup(server.Close)
	account := rest.Account{Name: rest.DevAccount, Keys: []string{rest.DevKey}}
	return account.ConnectionString(server.URL)
}
