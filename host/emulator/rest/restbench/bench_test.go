package restbench_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/streaming"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue/v2"

	queueapi "github.com/redeliver/redeliver/bindings/queue"
)

var (
	rounds = flag.Int("rounds", 7, "turns of each contestant in each row")
	turn   = flag.Duration("turn", 150*time.Millisecond, "length of a turn")
	only   = flag.String("row", "", "measure only the rows whose name contains this")
)

type queue = queueapi.Queue

var (
	text      = strings.Repeat("x", 256)
	smallText = "order 4711"
	blobSizes = []int{4 << 10, 1 << 20}
)

// backlog is how many messages are in the queue when pairs of get and delete are
// measured: more than are consumed in a turn.
const backlog = 2500

// blobNames is how many blobs writers and readers go round.
const blobNames = 64

func containerOf(size int) string { return fmt.Sprintf("size-%d", size) }

// A contestant is a server with the SDK's clients to it.
type contestant struct {
	*server
	service *azqueue.ServiceClient
	queue   *azqueue.QueueClient // kept short
	long    *azqueue.QueueClient // kept at backlog
	depth   atomic.Int64         // of long
	blobs   *azblob.Client
	next    atomic.Int64
}

func connect(b *testing.B, s *server) *contestant {
	b.Helper()
	// Azurite hangs up after 5 s of silence, even if a client writes at that
	// moment.
	transport := &http.Transport{MaxIdleConnsPerHost: 64, DisableCompression: true, IdleConnTimeout: 2 * time.Second}
	b.Cleanup(transport.CloseIdleConnections)
	options := azcore.ClientOptions{Transport: &http.Client{Transport: transport}, Retry: policy.RetryOptions{MaxRetries: -1}}
	c := &contestant{server: s}
	service, err := azqueue.NewServiceClientFromConnectionString(s.connection, &azqueue.ClientOptions{ClientOptions: options})
	if err != nil {
		b.Fatal(err)
	}
	c.service = service
	c.queue, c.long = service.NewQueueClient("orders"), service.NewQueueClient("backlog")
	if c.blobs, err = azblob.NewClientFromConnectionString(s.connection, &azblob.ClientOptions{ClientOptions: options}); err != nil {
		b.Fatal(err)
	}
	for _, q := range []*azqueue.QueueClient{c.queue, c.long} {
		if _, err := q.Create(b.Context(), nil); err != nil {
			b.Fatalf("%s: %v", s.name, err)
		}
	}
	return c
}

// fillBlobs writes what readers will read.
func (c *contestant) fillBlobs(b *testing.B) {
	b.Helper()
	for _, size := range blobSizes {
		if _, err := c.blobs.CreateContainer(b.Context(), containerOf(size), nil); err != nil {
			b.Fatalf("%s: %v", c.name, err)
		}
		for range blobNames {
			if err := c.putBlob(b.Context(), size); err != nil {
				b.Fatalf("%s: %v", c.name, err)
			}
		}
	}
}

var errDone = errors.New("nothing is left to do")

func (c *contestant) put(ctx context.Context) error {
	_, err := c.queue.EnqueueMessage(ctx, text, nil)
	return err
}

// refill brings the backlog back.
func (c *contestant) refill(ctx context.Context) error {
	if c.depth.Add(1) > backlog {
		c.depth.Add(-1)
		return errDone
	}
	_, err := c.long.EnqueueMessage(ctx, text, nil)
	return err
}

func (c *contestant) getAndDelete(ctx context.Context) error {
	got, err := c.long.DequeueMessages(ctx, &azqueue.DequeueMessagesOptions{NumberOfMessages: to.Ptr[int32](1), VisibilityTimeout: to.Ptr[int32](3600)})
	if err != nil {
		return err
	}
	if len(got.Messages) == 0 {
		return errDone
	}
	c.depth.Add(-1)
	_, err = c.long.DeleteMessage(ctx, *got.Messages[0].MessageID, *got.Messages[0].PopReceipt, nil)
	return err
}

func (c *contestant) blobName() string { return fmt.Sprintf("folder/blob-%d", c.next.Add(1)%blobNames) }

func (c *contestant) putBlob(ctx context.Context, size int) error {
	body := streaming.NopCloser(bytes.NewReader(content[:size]))
	_, err := c.blobs.ServiceClient().NewContainerClient(containerOf(size)).NewBlockBlobClient(c.blobName()).Upload(ctx, body, nil)
	return err
}

// putBlock stages a block, in the place of the one before, for a blob that is never made.
func (c *contestant) putBlock(ctx context.Context) error {
	body := streaming.NopCloser(bytes.NewReader(content))
	_, err := c.blobs.ServiceClient().NewContainerClient(containerOf(len(content))).NewBlockBlobClient("of-blocks/"+c.blobName()).StageBlock(ctx, "MQ==", body, nil)
	return err
}

func (c *contestant) getBlob(ctx context.Context, size int) error {
	got, err := c.blobs.DownloadStream(ctx, containerOf(size), c.blobName(), nil)
	if err != nil {
		return err
	}
	defer got.Body.Close()
	n, err := io.Copy(io.Discard, got.Body)
	if err == nil && n != int64(size) {
		err = fmt.Errorf("got %d bytes, want %d", n, size)
	}
	return err
}

var content = make([]byte, 1<<20)

// A row is one thing to measure.
type row struct {
	name    string
	callers int
	before  func(c *contestant) func(context.Context) error // runs until errDone, unmeasured
	do      func(c *contestant) func(context.Context) error
}

func rows() []row {
	var out []row
	for _, callers := range []int{1, 16} {
		put := func(c *contestant) func(context.Context) error { return c.put }
		out = append(out,
			row{"queue put", callers, nil, put},
			row{"queue get+delete", callers, func(c *contestant) func(context.Context) error { return c.refill },
				func(c *contestant) func(context.Context) error { return c.getAndDelete }})
		for _, size := range blobSizes {
			label := map[int]string{4 << 10: "4 KiB", 1 << 20: "1 MiB"}[size]
			out = append(out,
				row{"blob put " + label, callers, nil, func(c *contestant) func(context.Context) error {
					return func(ctx context.Context) error { return c.putBlob(ctx, size) }
				}},
				row{"blob get " + label, callers, nil, func(c *contestant) func(context.Context) error {
					return func(ctx context.Context) error { return c.getBlob(ctx, size) }
				}})
		}
		out = append(out, row{"block put 1 MiB", callers, nil, func(c *contestant) func(context.Context) error { return c.putBlock }})
	}
	return out
}

// rate runs f in so many goroutines for a turn, and returns how often it did, in a
// second and in all.
func rate(ctx context.Context, turn time.Duration, callers int, f func(context.Context) error) (perSecond float64, n int64, err error) {
	var done atomic.Int64
	var failed error
	var mu sync.Mutex
	begun := time.Now()
	var group sync.WaitGroup
	for range callers {
		group.Go(func() {
			for time.Since(begun) < turn {
				if err := f(ctx); err != nil {
					mu.Lock()
					failed = err
					mu.Unlock()
					return
				}
				done.Add(1)
			}
		})
	}
	group.Wait()
	if failed != nil && !errors.Is(failed, errDone) {
		return 0, 0, failed
	}
	return float64(done.Load()) / time.Since(begun).Seconds(), done.Load(), nil
}

// BenchmarkServers prints a table of operations per second and of ratios.
func BenchmarkServers(b *testing.B) {
	contestants := []*contestant{connect(b, open(b, floor, 0)), connect(b, open(b, memory, 0)), connect(b, open(b, durable, 0))}
	if main := azuriteMain(); main != "" {
		contestants = append(contestants, connect(b, openAzurite(b, azurite, main)), connect(b, openAzurite(b, azuriteMemory, main)))
	}
	for _, c := range contestants {
		c.fillBlobs(b)
	}
	rates, costs := map[string][]float64{}, map[string]cost{}
	of := func(r row, c *contestant) string { return fmt.Sprint(r.name, r.callers, c.name) }
	for b.Loop() {
		clear(rates)
		clear(costs)
		for _, r := range rows() {
			if !strings.Contains(fmt.Sprint(r.name, " ", r.callers), *only) {
				continue
			}
			for i := range *rounds + 1 {
				for _, c := range contestants {
					got, cost := measure(b, c, r)
					if i > 0 { // the first round warms up
						rates[of(r, c)] = append(rates[of(r, c)], got)
						costs[of(r, c)] = costs[of(r, c)].plus(cost)
					}
				}
			}
		}
	}
	fmt.Println("\n| operation | at once | floor/s | memory/s | durable/s | Azurite/s | Azurite in memory/s | memory of floor | durable of floor | memory : Azurite in memory | durable : Azurite |")
	fmt.Println("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
	for _, r := range rows() {
		get := func(name string) []float64 { return rates[fmt.Sprint(r.name, r.callers, name)] }
		if get(floor) == nil {
			continue
		}
		fmt.Printf("| %s | %d |", r.name, r.callers)
		for _, name := range []string{floor, memory, durable, azurite, azuriteMemory} {
			fmt.Printf(" %.0f |", median(get(name)))
		}
		fmt.Printf(" %.0f %% | %.0f %% | %.0f× | %.0f× |\n",
			100*ratio(get(memory), get(floor)), 100*ratio(get(durable), get(floor)),
			ratio(get(memory), get(azuriteMemory)), ratio(get(durable), get(azurite)))
	}
	printCosts(func(r row, name string) cost { return costs[fmt.Sprint(r.name, r.callers, name)] })
}

// cost is what a number of operations took of a server's processor.
type cost struct {
	used       time.Duration
	operations int64
}

func (c cost) plus(d cost) cost { return cost{c.used + d.used, c.operations + d.operations} }

// each is the cost of one operation in microseconds.
func (c cost) each() float64 {
	return float64(c.used.Microseconds()) / float64(max(c.operations, 1))
}

// measure takes one turn, and returns the operations in a second and their cost.
func measure(b *testing.B, c *contestant, r row) (perSecond float64, took cost) {
	b.Helper()
	ctx := b.Context()
	if r.before != nil {
		if _, _, err := rate(ctx, time.Hour, 16, r.before(c)); err != nil {
			b.Fatalf("%s, before %s: %v", c.name, r.name, err)
		}
	}
	before := c.processor()
	perSecond, n, err := rate(ctx, *turn, r.callers, r.do(c))
	if err != nil {
		b.Fatalf("%s, %s: %v", c.name, r.name, err)
	}
	used := c.processor() - before
	if _, err := c.queue.ClearMessages(ctx, nil); err != nil {
		b.Fatalf("%s: %v", c.name, err)
	}
	return perSecond, cost{used, n}
}

// printCosts prints what an operation takes of each server's processor: on a
// machine that others use too it says more than rates.
func printCosts(of func(r row, name string) cost) {
	fmt.Println("\n| µs of processor | at once | floor | memory | durable | Azurite | Azurite in memory |")
	fmt.Println("| --- | --- | --- | --- | --- | --- | --- |")
	for _, r := range rows() {
		if of(r, floor).operations == 0 {
			continue
		}
		fmt.Printf("| %s | %d |", r.name, r.callers)
		for _, name := range []string{floor, memory, durable, azurite, azuriteMemory} {
			fmt.Printf(" %.0f |", of(r, name).each())
		}
		fmt.Println()
	}
}

func median(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	v = slices.Sorted(slices.Values(v))
	return v[len(v)/2]
}

// ratio is the median of the rounds' ratios.
func ratio(a, b []float64) float64 {
	var out []float64
	for i := range min(len(a), len(b)) {
		out = append(out, a[i]/b[i])
	}
	return median(out)
}
