package rest_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/rs/zerolog"

	"github.com/redeliver/redeliver/bindings/blob"
	"github.com/redeliver/redeliver/host/emulator/rest"
)

// damaged is an account whose blobs cannot be read to their end.
type (
	damaged          struct{ blob.Account }
	damagedContainer struct{ blob.Container }
	damagedBlob      struct{ blob.Blob }
)

func (a damaged) Container(name string) blob.Container {
	return damagedContainer{a.Account.Container(name)}
}

func (c damagedContainer) Blob(name string) blob.Blob {
	return damagedBlob{c.Container.Blob(name)}
}

func (b damagedBlob) Get(ctx context.Context, opts *blob.GetOptions) (*blob.Download, error) {
	d, err := b.Blob.Get(ctx, opts)
	if err == nil {
		d.Body = &short{ReadCloser: d.Body, left: d.Range.Count / 2}
	}
	return d, err
}

// short is a body that fails in the middle.
type short struct {
	io.ReadCloser
	left int64
}

func (s *short) Read(p []byte) (int, error) {
	if s.left == 0 {
		return 0, errors.New("checksum does not match")
	}
	n, err := s.ReadCloser.Read(p[:min(int64(len(p)), s.left)])
	s.left -= int64(n)
	return n, err
}

// lines collects what is logged.
type lines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// A client of a damaged blob sees a cut answer, and the operator why.
func TestDamagedBlobIsLogged(t *testing.T) {
	t.Parallel()
	var log lines
	b := newBench(t, func(s *setup) {
		s.rest.Logger = zerolog.New(&log)
		s.blobs = func(a blob.Account) blob.Account { return damaged{a} }
	})
	b.do(func(ctx context.Context) {
		container := b.storage.Container("files")
		if _, err := container.Create(ctx, nil); err != nil {
			t.Fatal(err)
		}
		if _, err := container.Blob("a/b.txt").Put(ctx, strings.NewReader(strings.Repeat("x", 1<<20)), nil); err != nil {
			t.Fatal(err)
		}
	})
	b.endpoint = strings.Replace(b.endpoint, b.server.QueueURL(), b.server.BlobURL(), 1)
	r := b.request("GET", "/files/a/b.txt", "")
	sign(t, r, rest.DevAccount, rest.DevKey, stringToSign(r, rest.DevAccount))
	resp, err := b.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if n, err := io.Copy(io.Discard, resp.Body); err == nil {
		t.Errorf("status %d, %d bytes, and no error", resp.StatusCode, n)
	}
	for _, want := range []string{`"level":"error"`, `"error":"checksum does not match"`, `"component":"blob rest"`, `"blob":"files/a/b.txt"`} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("log %q lacks %s", log.String(), want)
		}
	}
}
