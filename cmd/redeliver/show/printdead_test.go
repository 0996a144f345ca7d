package show

import (
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/redeliver/redeliver/cmd/redeliver/cli"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/journal"
)

// A dead letter is told at the end of the delivery that made it one: of the latest, where
// the handler settles and the next delivery begins before the one before has ended; and not
// at that of another message with its identity.
func TestPrintDeadLetters(t *testing.T) {
	t.Parallel()
	of := func(kind journal.Kind, delivery string, number, count int64) journal.Record {
		return journal.Record{
			Kind: kind, Function: "Ship", Trigger: "serviceBusTrigger", Source: "parcels", Delivery: delivery,
			MessageID: "m1", MessageNumber: number, DeliveryCount: count, Decision: map[journal.Kind]string{journal.Settled: "abandoned"}[kind],
		}
	}
	dead := journal.Record{
		Kind: journal.DeadLettered, Service: journal.ServiceBus, Source: "parcels", MessageID: "m1", MessageNumber: 1, DeliveryCount: 2,
		Target: "parcels/$DeadLetterQueue", Cause: "MaxDeliveryCountExceeded",
	}
	for name, test := range map[string]struct {
		records []journal.Record
		want    []string // what begins the lines with the dead letter
	}{
		"one after the other":  {[]journal.Record{of(journal.Received, "d1", 1, 2), dead, of(journal.Settled, "d1", 1, 2)}, []string{"d1 abandoned"}},
		"the next has begun":   {[]journal.Record{of(journal.Received, "d1", 1, 1), of(journal.Received, "d2", 1, 2), dead, of(journal.Settled, "d1", 1, 1), of(journal.Settled, "d2", 1, 2)}, []string{"d2 abandoned"}},
		"the latest ends last": {[]journal.Record{of(journal.Received, "d1", 1, 1), of(journal.Received, "d2", 1, 2), dead, of(journal.Settled, "d2", 1, 2), of(journal.Settled, "d1", 1, 1)}, []string{"d2 abandoned"}},
		"another of its name":  {[]journal.Record{of(journal.Received, "d1", 2, 1), dead, of(journal.Settled, "d1", 2, 1)}, []string{"parcels dead lettered"}},
	} {
		p := New(Of{Out: cli.NewConsole(cli.Streams{Out: io.Discard, Err: io.Discard}, true), Pace: func() clock.Pace { return clock.Real }})
		var got []string
		for i := range test.records {
			if line := p.line(&test.records[i]); strings.Contains(line, "$DeadLetterQueue") {
				words := strings.Fields(line)
				got = append(got, strings.Join(words[1:slices.IndexFunc(words, func(w string) bool { return strings.HasPrefix(w, "delivery_count") || w == "to" })], " "))
			}
		}
		for i := range got {
			got[i] = strings.TrimPrefix(got[i], "Ship ")
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}
