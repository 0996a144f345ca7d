package bindingtest

import (
	"bytes"
	"context"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	blobapi "github.com/redeliver/redeliver/bindings/blob"
	"github.com/redeliver/redeliver/bindings/storage"
)

// BlobFeatures names what a blob backend guarantees where backends are known to
// differ. The embedded service has all of them.
type BlobFeatures struct {
	// StrictRenew: a lease that has ended is renewed only with its identifier and
	// if nothing was written since (S-12).
	StrictRenew bool
	// ChecksEveryWrite: If-None-Match "*" fails every write to a blob that
	// exists, not only those that would create it.
	ChecksEveryWrite bool
	// StrictNames: bad names, metadata and identifiers of leases and blocks are
	// refused with the documented codes.
	StrictNames bool
	// ResetsLease: replacing a blob whose lease was broken or has expired makes
	// the lease available.
	ResetsLease bool
	// RefusesSnapshotsWithDelimiter: a listing cannot have both.
	RefusesSnapshotsWithDelimiter bool
	// Limits: tens of thousands of calls are cheap, so that limits are tested.
	Limits bool
	// RecreateAtOnce: a container can be created right after its deletion.
	RecreateAtOnce bool

	// LowersMetadata: names of metadata come back in lower case. The embedded
	// service does not; HTTP clients do.
	LowersMetadata bool
	// NamesCopySource: CopyState.Source is the backend's own address of the source,
	// not the caller's.
	NamesCopySource bool

	// Differs says what the backend is known to do in its own way: by the name of
	// a test, which is then skipped, or by "test/detail", which leaves out one
	// detail of it.
	Differs map[string]string
}

// BlobBackend is one fresh, empty account under test.
type BlobBackend struct {
	Account  blobapi.Account
	Features BlobFeatures

	// Do runs f where the account may be called, and returns when f and what it
	// caused have ended. Nil: anywhere will do.
	Do func(f func())
	// Now is the backend's time; nil when the tests must not compare times.
	Now func() time.Time
	// Advance moves the backend's time; nil for real time.
	Advance func(d time.Duration)
}

// RunBlob holds a backend to the contract of blob.Account and what it
// leads to, and of blob.Waker where the account implements it.
// open is called once for each subtest.
func RunBlob(t *testing.T, open func(t *testing.T) *BlobBackend) {
	for _, test := range blobSuite() {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			b := &blobBench{T: t, BlobBackend: open(t), test: test.name}
			b.checkDiffers()
			if differs, ok := b.Features.Differs[test.name]; ok {
				b.Skip("the backend differs: " + differs)
			}
			if test.needsTime && b.Advance == nil {
				t.Skip("the backend's time cannot be moved")
			}
			test.run(b)
		})
	}
}

func blobSuite() []blobTest {
	return slices.Concat(containerTests, blobTests, blockTests, blobConditionTests, blobListTests, leaseTests)
}

type blobTest struct {
	name      string
	needsTime bool
	run       func(b *blobBench)
}

// atOnce is a test that needs no time to pass: one step on a container that
// exists.
func atOnce(name string, f func(b *blobBench, ctx context.Context, c blobapi.Container)) blobTest {
	return blobTest{name: name, run: func(b *blobBench) {
		b.createContainer()
		b.do(func(ctx context.Context, c blobapi.Container) { f(b, ctx, c) })
	}}
}

// inTime is a test that moves time between its steps, on a container that exists.
func inTime(name string, f func(b *blobBench)) blobTest {
	return blobTest{name: name, needsTime: true, run: func(b *blobBench) {
		b.createContainer()
		f(b)
	}}
}

// blobBench makes tests read as scripts.
type blobBench struct {
	*testing.T
	*BlobBackend
	test string // its name in the suite
}

const containerName = "inbox"

// checkDiffers fails where a difference names no test.
func (b *blobBench) checkDiffers() {
	for key := range b.Features.Differs {
		name, _, _ := strings.Cut(key, "/")
		if !slices.ContainsFunc(blobSuite(), func(t blobTest) bool { return t.name == name }) {
			b.Errorf("Differs: no test is named %q", name)
		}
	}
}

// differs reports whether the backend does a detail of this test in its own way.
func (b *blobBench) differs(detail string) bool {
	what, ok := b.Features.Differs[b.test+"/"+detail]
	if ok {
		b.Logf("the backend differs: %s", what)
	}
	return ok
}

// do runs a step where the backend wants it.
func (b *blobBench) do(f func(ctx context.Context, c blobapi.Container)) {
	b.Helper()
	g := func() { f(context.Background(), b.Account.Container(containerName)) }
	if b.Do == nil {
		g()
		return
	}
	b.Do(g)
}

func (b *blobBench) createContainer() {
	b.Helper()
	b.do(func(ctx context.Context, c blobapi.Container) {
		_, err := c.Create(ctx, nil)
		b.ok("Create", err)
	})
}

func (b *blobBench) ok(what string, err error) {
	b.Helper()
	if err != nil {
		b.Fatalf("%s: %v", what, err)
	}
}

// code fails unless err is the failure with that code; with none if it is empty.
func (b *blobBench) code(what string, err error, want storage.Code) {
	b.Helper()
	if got := storage.CodeOf(err); got != want || want == "" && err != nil {
		b.Errorf("%s: got %v, want code %q", what, err, want)
	}
}

// status is code, with the status of the answer.
func (b *blobBench) status(what string, err error, status int, want storage.Code) {
	b.Helper()
	b.code(what, err, want)
	var e *storage.Error
	if asBlobError(err, &e) && e.Status != status {
		b.Errorf("%s: status %d, want %d", what, e.Status, status)
	}
}

// name is a name of metadata as it comes back.
func (b *blobBench) name(metadata string) string {
	if b.Features.LowersMetadata {
		return strings.ToLower(metadata)
	}
	return metadata
}

// put uploads a block blob.
func (b *blobBench) put(ctx context.Context, blob blobapi.Blob, text string) *blobapi.Written {
	b.Helper()
	w, err := blob.Put(ctx, strings.NewReader(text), nil)
	b.ok("Put", err)
	return w
}

// append makes an append blob out of texts.
func (b *blobBench) append(ctx context.Context, blob blobapi.Blob, texts ...string) {
	b.Helper()
	_, err := blob.Put(ctx, nil, &blobapi.PutOptions{Type: blobapi.AppendBlob})
	b.ok("Put of an append blob", err)
	for _, text := range texts {
		_, err := blob.AppendBlock(ctx, strings.NewReader(text), nil)
		b.ok("AppendBlock", err)
	}
}

// content fails unless the blob has that content.
func (b *blobBench) content(ctx context.Context, blob blobapi.Blob, want string) {
	b.Helper()
	d, err := blob.Get(ctx, nil)
	b.ok("Get", err)
	if got := b.readAll(d); got != want {
		b.Errorf("content of %q = %.100q, want %.100q", blob.Name(), got, want)
	}
}

func (b *blobBench) readAll(d *blobapi.Download) string {
	b.Helper()
	got, err := io.ReadAll(d.Body)
	b.ok("reading", err)
	b.ok("Close", d.Body.Close())
	return string(got)
}

func (b *blobBench) properties(ctx context.Context, blob blobapi.Blob) *blobapi.Properties {
	b.Helper()
	p, err := blob.Properties(ctx, nil)
	b.ok("Properties", err)
	return p
}

// pattern is text in which every place is different enough to be recognised.
func pattern(n int) string {
	var buf bytes.Buffer
	for i := 0; buf.Len() < n; i++ {
		buf.WriteByte(byte(i))
		buf.WriteByte(byte(i >> 8))
		buf.WriteByte(byte(i >> 16))
	}
	return buf.String()[:n]
}
