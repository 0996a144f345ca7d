package eventgrid_test

import (
	"context"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/host/emulator/eventgrid"
	"github.com/redeliver/redeliver/host/journal"
)

// A dead letter tells of the last attempt, in both schemas: the outcome, and the
// status only if there was an answer.
func TestDeadLetterOutcomes(t *testing.T) {
	t.Parallel()
	fails := func(err error) answerFunc {
		return func(context.Context, string, *eventgrid.Request) (*eventgrid.Response, error) { return nil, err }
	}
	for name, test := range map[string]struct {
		answer  answerFunc
		outcome string
		status  int
		sent    string // the last attempt
	}{
		"404":            {status(404), "NotFound", 404, "00:05:00"},
		"302":            {status(302), "Aborted", 302, "00:00:10"},
		"205":            {status(205), "Aborted", 205, "00:00:10"},
		"429":            {status(429), "Busy", 429, "00:00:10"},
		"503":            {status(503), "Busy", 503, "00:00:30"},
		"408":            {status(408), "TimedOut", 408, "00:02:00"},
		"no connection":  {fails(errRefused), "SocketError", 0, "00:00:10"},
		"name":           {fails(&net.DNSError{Name: "nowhere", IsNotFound: true}), "ResolutionError", 0, "00:00:10"},
		"wrapped name":   {fails(fmt.Errorf("post: %w", &net.DNSError{Name: "nowhere"})), "ResolutionError", 0, "00:00:10"},
		"given up":       {fails(context.DeadlineExceeded), "TimedOut", 0, "00:02:00"},
		"no event grid":  {fails(eventgrid.ErrInvalidFunction), "InvalidAzureFunctionDestination", 0, "00:00:10"},
		"never answered": {nil, "TimedOut", 0, "00:02:30"},
	} {
		for _, schema := range []eventgrid.Schema{eventgrid.EventGridSchema, eventgrid.CloudEventSchema} {
			t.Run(name+" "+string(schema), func(t *testing.T) {
				t.Parallel()
				b := newBench(t, eventgrid.Rules{})
				if b.answer = test.answer; b.answer == nil {
					b.answer = slow(b, 100*time.Hour)
				}
				b.subscribe(eventgrid.Subscription{Name: "Sub-x", Function: "F", EventDeliverySchema: schema, MaxDeliveryAttempts: 2, DeadLetterContainer: "dead"})
				b.publish("e")
				b.clk.Advance(time.Hour)
				code := ""
				if test.status != 0 {
					code = fmt.Sprintf(`"lastHttpStatusCode":%d,`, test.status)
				}
				want := `,"deadLetterReason":"MaxDeliveryAttemptsExceeded","deliveryAttempts":2,"lastDeliveryOutcome":"` + test.outcome + `",` + code +
					`"publishTime":"2030-01-01T00:00:00.0000000Z","lastDeliveryAttemptTime":"2030-01-01T` + test.sent + `.0000000Z"}]`
				if schema == eventgrid.CloudEventSchema {
					for _, key := range []string{"deadLetterReason", "deliveryAttempts", "lastDeliveryOutcome", "lastHttpStatusCode", "publishTime", "lastDeliveryAttemptTime"} {
						want = strings.Replace(want, `"`+key+`"`, `"`+strings.ToLower(key)+`"`, 1)
					}
				}
				blobs := b.blobs("dead")
				for blob, text := range blobs {
					if !strings.HasSuffix(text, want) || !strings.HasPrefix(text, `[{"id":"e",`) {
						t.Errorf("%s: %s\nwant the end %s", blob, text, want)
					}
				}
				if len(blobs) != 1 {
					t.Errorf("%d dead letters", len(blobs))
				}
			})
		}
	}
}

// The path of a dead letter has numbers without zeros before them, in UTC, at the
// moment of writing; each event has a blob of its own.
func TestDeadLetterPath(t *testing.T) {
	t.Parallel()
	b := newBench(t, eventgrid.Rules{})
	b.answer = status(400)
	b.subscribe(eventgrid.Subscription{Name: "Sub-x", Function: "F", DeadLetterContainer: "dead"})
	var prefixes []string
	for _, at := range []time.Duration{0, 9 * time.Hour, 40*24*time.Hour + 23*time.Hour + 56*time.Minute} {
		b.clk.Advance(at - b.clk.Now().Sub(start))
		b.publish("e", "f")
		moment := b.clk.Now().Add(5 * time.Minute).UTC()
		prefixes = append(prefixes, fmt.Sprintf("SUB-X/%d/%d/%d/%d/", moment.Year(), int(moment.Month()), moment.Day(), moment.Hour()))
	}
	b.clk.Advance(time.Hour)
	if diff := cmp.Diff([]string{"SUB-X/2030/1/1/0/", "SUB-X/2030/1/1/9/", "SUB-X/2030/2/11/0/"}, prefixes); diff != "" {
		t.Fatal(diff)
	}
	blobs := b.blobs("dead")
	for _, prefix := range prefixes {
		n := 0
		for name := range blobs {
			if strings.HasPrefix(name, prefix) && strings.HasSuffix(name, ".json") {
				n++
			}
		}
		if n != 2 {
			t.Errorf("%d blobs at %s, want two: %v", n, prefix, blobs)
		}
	}
}

// A container that is deleted after the subscription was made is waited for.
func TestDeadLetterContainerDeleted(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		back time.Duration // 0: never
		want string
	}{
		"back":     {4 * time.Hour, "4h5m0s dead_lettered e 1 UndeliverableDueToClientError"},
		"late":     {4*time.Hour + 6*time.Minute, "4h5m0s event_dropped e 1 DeadLetterContainerUnavailable"},
		"not back": {0, "4h5m0s event_dropped e 1 DeadLetterContainerUnavailable"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, eventgrid.Rules{})
			b.answer = status(413)
			b.subscribe(eventgrid.Subscription{Name: "s", Function: "F", DeadLetterContainer: "dead"})
			b.do(func(ctx context.Context) error { return b.storage.Container("dead").Delete(ctx, nil) })
			b.publish("e")
			if test.back > 0 {
				b.clk.Advance(test.back)
				b.do(func(ctx context.Context) error { _, err := b.storage.Container("dead").Create(ctx, nil); return err })
			}
			b.clk.Run(day)
			if diff := cmp.Diff([]string{test.want}, b.trace(journal.DeadLettered, journal.EventDropped)); diff != "" {
				t.Errorf("records (-want +got):\n%s", diff)
			}
			if left := b.grid.Deliveries("", ""); len(left) != 0 {
				t.Errorf("left: %+v", left)
			}
		})
	}
}

// An event that waits to be written is dropped when its subscription has no place for
// it any more.
func TestDeadLetterPlaceRemoved(t *testing.T) {
	t.Parallel()
	b := newBench(t, eventgrid.Rules{})
	b.answer = status(400)
	b.subscribe(eventgrid.Subscription{Name: "s", Function: "F", DeadLetterContainer: "dead"})
	b.publish("e")
	b.subscribe(eventgrid.Subscription{Name: "s", Function: "F"})
	b.clk.Run(day)
	want := []string{"5m0s event_dropped e 1 UndeliverableDueToClientError"}
	if diff := cmp.Diff(want, b.trace(journal.DeadLettered, journal.EventDropped)); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
}

// Events keep the schema in which they were taken, though their subscription asks for
// another one by now.
func TestSchemaChangesUnderway(t *testing.T) {
	t.Parallel()
	b := newBench(t, eventgrid.Rules{})
	b.answer = status(500)
	b.subscribe(eventgrid.Subscription{Name: "s", Function: "F"})
	b.publish("e")
	b.subscribe(eventgrid.Subscription{Name: "s", Function: "F", EventDeliverySchema: eventgrid.CloudEventSchema, MaxEventsPerBatch: 10})
	b.clk.Advance(9 * time.Second)
	b.calls = nil
	b.publish("f")
	b.clk.Advance(11 * time.Second)
	got := map[string]string{}
	for _, c := range b.calls {
		got[c.r.ContentType] = c.Body[:10]
	}
	want := map[string]string{"application/json; charset=utf-8": `[{"id":"e"`, "application/cloudevents-batch+json; charset=utf-8": `[{"id":"f"`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}
