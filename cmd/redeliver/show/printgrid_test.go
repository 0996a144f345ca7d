package show

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/redeliver/redeliver/cmd/redeliver/cli"
	"github.com/redeliver/redeliver/host/journal"
)

// The answer of a web hook has a line of its own, since no function's lines tell
// it. Troubles of one partition have one too; a listener that keeps failing is
// told once.
func TestPrintEvents(t *testing.T) {
	t.Parallel()
	out := cli.NewConsole(cli.Streams{Out: io.Discard, Err: io.Discard}, true)
	p := New(Of{Out: out})
	p.at.width = 7
	at := time.Date(2030, 1, 1, 12, 0, 0, 0, time.Local)
	hook := journal.Record{Time: at, Kind: journal.EventAttempted, Source: "shop/hook", MessageID: "e7", DeliveryCount: 2}
	failed := hook
	failed.Status, failed.Delay, failed.HasDelay, failed.Fields = "Busy", 30*time.Second, true, []journal.Field{{Key: "http_status", Value: "500"}}
	refused := hook
	refused.Status, refused.Delay, refused.HasDelay = "SocketError", time.Minute, true
	late := hook
	late.Status, late.Message, late.Fields = "Delivered", "answered late", []journal.Field{{Key: "http_status", Value: "204"}}
	function := failed
	function.Function = "OnOrder"
	listener := journal.Record{Time: at, Kind: journal.FunctionError, Function: "OnOrder", Error: "no container", Delay: time.Second, HasDelay: true}
	for _, step := range []struct {
		rec  journal.Record
		want string
	}{
		{failed, "12:00:00.000  shop/hook         web hook called       delivery_count=2  500  Busy  again in 30s"},
		{refused, "12:00:00.000  shop/hook         web hook called       delivery_count=2  SocketError  again in 1m0s"},
		{late, "12:00:00.000  shop/hook         web hook called       delivery_count=2  204  Delivered  answered late"},
		{function, ""},
		{journal.Record{Time: at, Kind: journal.FunctionError, Source: "shop/hook", Error: "no answer", HasDelay: true}, "12:00:00.000  shop/hook         not subscribed        no answer  is tried again"},
		{listener, "12:00:00.000  OnOrder           listener failed       no container  is started again until it runs"},
		{listener, ""},
		{journal.Record{Time: at, Kind: journal.FunctionError, Function: "OnOrder", Source: "readings/0", Message: "checkpoint is damaged", Error: "EOF"}, "12:00:00.000  OnOrder           in trouble            readings/0  checkpoint is damaged  EOF"},
	} {
		if got := strings.TrimRight(p.line(&step.rec), " "); got != step.want {
			t.Errorf("%s of %s:\n got %q\nwant %q", step.rec.Kind, step.rec.Source, got, step.want)
		}
	}
}
