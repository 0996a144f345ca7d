package growth_test

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/redeliver/redeliver/host/hosttest/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// bench is one service with n things in it, and the costs of operations on it.
type bench struct {
	testing.TB
	n     int
	costs map[string]time.Duration
}

// per measures an operation: the least time of some rounds, since nothing else can make
// one shorter. f gets a number that is another in each call.
func (b *bench) per(name string, f func(i int) error) {
	b.Helper()
	const rounds, times = 12, 6
	least := time.Duration(1 << 62)
	for round := range rounds {
		begun := time.Now()
		for i := range times {
			if err := f(round*times + i); err != nil {
				b.Fatalf("%s with %d: %v", name, b.n, err)
			}
		}
		least = min(least, time.Since(begun)/times)
	}
	b.costs[name] = least
}

func (b *bench) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

// piles are the services with what can be piled up in them.
var piles = map[string]func(b *bench){
	"queue": queueMessages, "queue, hidden": hiddenMessages, "blobs": manyBlobs, "blob of blocks": blocks, "append blob": appendBlob,
	"page blob": pages, "snapshots": snapshots, "Service Bus queue": busQueue, "Service Bus, locked": busLocked,
	"Service Bus, scheduled": busScheduled, "Service Bus sessions": busSessions, "Service Bus, named sessions": busNamed,
	"Service Bus dead letters": busDead, "duplicate detection": busDuplicates, "event hub": hub, "Cosmos DB": documents, "Event Grid": parked,
} // read only

func measure(tb testing.TB, pile func(*bench), n int) map[string]time.Duration {
	b := &bench{tb, n, map[string]time.Duration{}}
	pile(b)
	runtime.GC() // what one pile leaves is not the next one's
	return b.costs
}

const few = 1_000

// TestGrowth wants every operation to cost about the same with few and with many things.
func TestGrowth(t *testing.T) { // not parallel: it measures
	if testing.Short() {
		t.Skip("it fills every service")
	}
	for _, name := range slices.Sorted(maps.Keys(piles)) {
		t.Run(name, func(t *testing.T) {
			var small, large map[string]time.Duration
			for range 3 { // the least of all
				small, large = least(small, measure(t, piles[name], few)), least(large, measure(t, piles[name], many))
				if len(grown(small, large)) == 0 {
					return
				}
			}
			for _, op := range grown(small, large) {
				t.Errorf("%s takes %v with %d, and %v with %d", op, small[op], few, large[op], many)
			}
		})
	}
}

func least(a, b map[string]time.Duration) map[string]time.Duration {
	for op, d := range a {
		b[op] = min(b[op], d)
	}
	return b
}

// grown are the operations that cost more than a logarithm and a cold cache explain.
func grown(small, large map[string]time.Duration) (list []string) {
	for _, op := range slices.Sorted(maps.Keys(small)) {
		if large[op] > 6*small[op]+allowed {
			list = append(list, op)
		}
	}
	return list
}

// BenchmarkGrowth prints the table.
func BenchmarkGrowth(b *testing.B) {
	sizes := []int{1_000, 10_000, 100_000}
	for range b.N {
		fmt.Println("\n| stored | operation | µs with 1,000 | 10,000 | 100,000 |\n| --- | --- | --- | --- | --- |")
		for _, name := range slices.Sorted(maps.Keys(piles)) {
			var at []map[string]time.Duration
			for _, n := range sizes {
				at = append(at, measure(b, piles[name], n))
			}
			for _, op := range slices.Sorted(maps.Keys(at[0])) {
				fmt.Printf("| %s | %s |", name, op)
				for _, costs := range at {
					fmt.Printf(" %.1f |", float64(costs[op].Nanoseconds())/1e3)
				}
				fmt.Println()
			}
		}
	}
}
