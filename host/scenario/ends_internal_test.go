package scenario

import (
	"slices"
	"testing"

	"github.com/redeliver/redeliver/host/journal"
)

// Each member of a batch ends as its listener decided on it: a handler may have settled some
// of them itself.
func TestEndsOfMembers(t *testing.T) {
	t.Parallel()
	e := newEnds("Ship")
	of := journal.Record{Seq: 1, Kind: journal.Received, Function: "Ship", Trigger: "serviceBusTrigger", Source: "parcels", Delivery: "d1", MessageID: "a", MessageNumber: 1}
	of.Beside = journal.Beside{Batch: `["a","b","a"]`, Members: "[1,2,3]"}
	e.look(&of)
	of.Seq, of.Kind, of.Decision, of.Beside = 2, journal.Settled, "completed", journal.Beside{Members: `["completed","abandoned","dead_lettered"]`}
	e.look(&of)
	if got, want := e.words(), []string{"completed", "abandoned", "dead_lettered"}; !slices.Equal(got, want) {
		t.Errorf("they ended as %q, want %q", got, want)
	}
}
