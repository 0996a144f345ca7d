package hosttest_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host/faults"
	"github.com/redeliver/redeliver/host/hosttest"
	"github.com/redeliver/redeliver/triggers"
)

// A name that is nowhere, and near to one that is, ends the test with that one, in each call
// of the kit that takes a name: what is sent there comes to nobody, and nothing is found.
func TestMisspeltNamesOfCalls(t *testing.T) {
	t.Parallel()
	app := func() *hosttest.Options {
		handlers := functions.New()
		for _, name := range []string{"Ship", "Bus", "Meter", "Pic", "Mail"} {
			handlers.Handle(name, func(context.Context, *functions.Trigger) error { return nil })
		}
		return &hosttest.Options{Handlers: handlers, Files: map[string]string{
			"Ship/function.json":  `{"bindings": [{"type": "queueTrigger", "direction": "in", "name": "item", "queueName": "parcels"}]}`,
			"Bus/function.json":   `{"bindings": [{"type": "serviceBusTrigger", "direction": "in", "name": "item", "queueName": "orders"}]}`,
			"Meter/function.json": `{"bindings": [{"type": "eventHubTrigger", "direction": "in", "name": "item", "eventHubName": "readings"}]}`,
			"Pic/function.json":   `{"bindings": [{"type": "blobTrigger", "direction": "in", "name": "item", "path": "pictures/{n}"}]}`,
			"Mail/function.json":  `{"bindings": [{"type": "queueTrigger", "direction": "in", "name": "item", "queueName": "mails"}, {"type": "sendGrid", "direction": "out", "name": "mail"}]}`,
			"host.json":           `{"version": "2.0", "redeliver": {"eventGrid": {"topics": [{"name": "shop"}]}}}`,
		}}
	}
	for name, test := range map[string]struct {
		call  func(h *hosttest.Host)
		meant string
	}{
		"Send":                  {func(h *hosttest.Host) { h.Send("parcells", "x") }, "parcels"},
		"SendAll":               {func(h *hosttest.Host) { h.SendAll("parcells", "x", "y") }, "parcels"},
		"SendWith":              {func(h *hosttest.Host) { h.SendWith("parcells", "x", nil) }, "parcels"},
		"WantQueue":             {func(h *hosttest.Host) { h.WantQueue("parcels-poizon") }, "parcels-poison"},
		"WantHidden":            {func(h *hosttest.Host) { h.WantHidden("parcells") }, "parcels"},
		"Bodies":                {func(h *hosttest.Host) { h.Bodies("parcel") }, "parcels"},
		"SendServiceBus":        {func(h *hosttest.Host) { h.SendServiceBus("oders", &servicebus.Message{}) }, "orders"},
		"ServiceBusMessages":    {func(h *hosttest.Host) { h.ServiceBusMessages("orders/$DeadLeterQueue") }, "orders/$DeadLetterQueue"},
		"ExpireServiceBusLocks": {func(h *hosttest.Host) { h.ExpireServiceBusLocks("ordres") }, "orders"},
		"SendEvents":            {func(h *hosttest.Host) { h.SendEvents("readngs", "", "x") }, "readings"},
		"Checkpoint":            {func(h *hosttest.Host) { h.Checkpoint("readngs", "$Default", "0") }, "readings"},
		"PublishEvents":         {func(h *hosttest.Host) { h.PublishEvents("shpo", "[]") }, "shop"},
		"Upload":                {func(h *hosttest.Host) { h.Upload("pictres/a", "x") }, "pictures"},
		"Download":              {func(h *hosttest.Host) { h.Download("pictres/a") }, "pictures"},
		"Blobs":                 {func(h *hosttest.Host) { h.Blobs("pictres") }, "pictures"},
		"Call":                  {func(h *hosttest.Host) { h.Call("Metr", "x") }, "Meter"},
		"WantAttempts":          {func(h *hosttest.Host) { h.WantAttempts("Shipp", 0) }, "Ship"},
		"WantSettled":           {func(h *hosttest.Host) { h.WantSettled("Metr") }, "Meter"},
		"AwaitSettled":          {func(h *hosttest.Host) { h.AwaitSettled("Shipp", triggers.Deleted) }, "Ship"},
		"KillAt":                {func(h *hosttest.Host) { h.KillAt("Shipp", hosttest.AfterHandler, 1) }, "Ship"},
		"Outputs":               {func(h *hosttest.Host) { h.Outputs("Mail/mial") }, "Mail/mail"},
		"WantOutput":            {func(h *hosttest.Host) { h.WantOutput("Mail/mial") }, "Mail/mail"},
		"Inject": {func(h *hosttest.Host) {
			if err := h.Inject(faults.Fault{Service: "queue", Operation: "Dlete"}); err != nil {
				h.Send("parcels", "x")
				h.WantQueue("parcels", err.Error()) // the test's own report
			}
		}, "Delete"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := failsIn(t, time.Minute, app(), test.call)
			if !strings.Contains(got, test.meant) || name != "Inject" && !strings.Contains(got, "did you mean \""+test.meant+"\"?") {
				t.Errorf("it says %q, and not %q", got, test.meant)
			}
		})
	}
	t.Run("others", func(t *testing.T) {
		t.Parallel()
		h := hosttest.New(t, app())
		h.Send("anything", "x")
		h.WantQueue("anything", "x")
		h.CreateQueue("parcels2")
		h.WantQueue("parcels2")
		h.Send("parcelt", "x")
		h.WantQueue("parcelt", "x")
		h.WantQueue("parcels-poison")
		h.Upload("elsewhere/a", "x")
	})
}
