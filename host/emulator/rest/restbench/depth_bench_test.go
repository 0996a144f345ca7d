package restbench_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue/v2"
)

const (
	getsInTurn = 25
	million    = 1_000_000
)

// BenchmarkDepth prints how long a get of 16 messages takes in queues of several
// depths, and what memory a million small messages take.
func BenchmarkDepth(b *testing.B) {
	type deep struct {
		*server
		depth int
		queue *azqueue.QueueClient
		times []float64 // microseconds
	}
	var queues []*deep
	for _, name := range []string{memory, durable} {
		for _, depth := range []int{1000, 100_000, million} {
			s := open(b, name, depth)
			queues = append(queues, &deep{server: s, depth: depth, queue: connect(b, s).prefilled(b)})
		}
	}
	if main := azuriteMain(); main != "" {
		c := connect(b, openAzurite(b, azurite, main))
		c.long = c.prefilled(b)
		if _, err := c.long.Create(b.Context(), nil); err != nil {
			b.Fatal(err)
		}
		for range 1000 {
			if err := c.refill(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
		queues = append(queues, &deep{server: c.server, depth: 1000, queue: c.long})
	}
	for b.Loop() {
		for range *rounds {
			for _, q := range queues {
				for range getsInTurn {
					took, err := getAndGiveBack(b.Context(), q.queue)
					if err != nil {
						b.Fatalf("%s at depth %d: %v", q.name, q.depth, err)
					}
					q.times = append(q.times, float64(took.Microseconds()))
				}
			}
		}
	}
	fmt.Println("\n| get of 16 messages | depth | time | of the time at depth 1000 | resident memory |")
	fmt.Println("| --- | --- | --- | --- | --- |")
	shallow := map[string]float64{}
	for _, q := range queues {
		took := median(q.times)
		if q.depth == 1000 {
			shallow[q.name] = took
		}
		fmt.Printf("| %s | %d | %.0f µs | %.2f | %d MB |\n", q.name, q.depth, took, took/shallow[q.name], q.resident()>>20)
	}
}

// prefilled returns a client to the queue that the server had from the start.
func (c *contestant) prefilled(b *testing.B) *azqueue.QueueClient {
	b.Helper()
	return c.service.NewQueueClient(prefilled)
}

// getAndGiveBack measures a get. The messages go to the end of the queue.
func getAndGiveBack(ctx context.Context, q *azqueue.QueueClient) (time.Duration, error) {
	begun := time.Now()
	got, err := q.DequeueMessages(ctx, &azqueue.DequeueMessagesOptions{NumberOfMessages: to.Ptr[int32](16), VisibilityTimeout: to.Ptr[int32](3600)})
	took := time.Since(begun)
	if err != nil {
		return 0, err
	}
	if len(got.Messages) != 16 {
		return 0, errors.New("the queue is not deep enough")
	}
	for _, m := range got.Messages {
		_, err := q.UpdateMessage(ctx, *m.MessageID, *m.PopReceipt, *m.MessageText, &azqueue.UpdateMessageOptions{VisibilityTimeout: to.Ptr[int32](0)})
		if err != nil {
			return 0, err
		}
	}
	return took, nil
}

// BenchmarkStart prints how long it is from the start of a process until both of
// its services have given an answer.
func BenchmarkStart(b *testing.B) {
	main := azuriteMain()
	starts := map[string][]float64{}
	resident := map[string]int64{}
	names := []string{floor, memory, durable}
	if main != "" {
		names = append(names, azurite)
	}
	for b.Loop() {
		for range min(*rounds, 5) {
			for _, name := range names {
				var s *server
				if name == azurite {
					s = openAzurite(b, name, main)
				} else {
					s = open(b, name, 0)
				}
				starts[name] = append(starts[name], float64(s.started.Microseconds())/1000)
				resident[name] = s.resident()
			}
		}
	}
	fmt.Println("\n| start to first answer | time | resident memory |\n| --- | --- | --- |")
	for _, name := range names {
		fmt.Printf("| %s | %.1f ms | %d MB |\n", name, median(starts[name]), resident[name]>>20)
	}
}
