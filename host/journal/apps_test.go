package journal_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/host/journal"
)

// Several apps write one list. Each record says whose it is, and no two functions have one
// name in it; what is of no app is left as it is.
func TestJournalOfSeveralApps(t *testing.T) {
	t.Parallel()
	whole := journal.New(func() time.Time { return time.Unix(0, 0) }, nil)
	orders := whole.For("orders", nil)
	var seen []string
	billing := whole.For("shop/billing", func() func(*journal.Record) {
		return func(r *journal.Record) { seen = append(seen, r.Function) }
	})
	orders.Append(journal.Record{Kind: journal.Received, Function: "Work", Delivery: "d1"})
	billing.Append(journal.Record{Kind: journal.Received, Function: "Work", Delivery: "d1"})
	billing.Append(journal.Record{Kind: journal.ProcessStarted, Name: "node"})
	whole.Append(journal.Record{Kind: journal.Enqueued, Source: "bills"})
	orders.For("", nil).Append(journal.Record{Kind: journal.StateLoaded})
	type shown struct {
		Seq                uint64
		App, Function, Own string
	}
	var got []shown
	for _, r := range billing.Records() {
		back, err := journal.Read([]byte(r.String()))
		if err != nil || back.App != r.App || back.Function != r.Function {
			t.Errorf("%s reads as app %q, function %q (%v)", r, back.App, back.Function, err)
		}
		got = append(got, shown{r.Seq, r.App, r.Function, r.OwnFunction()})
	}
	want := []shown{{1, "orders", "orders/Work", "Work"}, {2, "shop/billing", "shop/billing/Work", "Work"}, {3, "shop/billing", "", ""}, {4, "", "", ""}, {5, "", "", ""}}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("records (-got +want):\n%s", diff)
	}
	if diff := cmp.Diff(seen, []string{"shop/billing/Work", ""}); diff != "" {
		t.Errorf("watched (-got +want):\n%s", diff)
	}
}
