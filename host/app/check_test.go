package app_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/host/app"
)

const sbBinding = `{"type": "serviceBusTrigger", "name": "m", "queueName": "orders"}`

// Section 4.1: attempts, deliveries and their product.
func TestCheckNumbers(t *testing.T) {
	t.Parallel()
	retry := func(n int) string {
		return fmt.Sprintf(`"retry": {"strategy": "fixedDelay", "maxRetryCount": %d, "delayInterval": "00:00:10"}`, n)
	}
	for _, tt := range []struct {
		name, binding, further string
		set                    []string
		want                   string // attempts deliveries total, wait, total wait
	}{
		{name: "queue, no policy", binding: queueBinding, want: "1 5 5, 00:00:00..00:00:00, 00:00:00..00:00:00"},
		{name: "queue, 0", binding: queueBinding, further: retry(0), want: "1 5 5, 00:00:00..00:00:00, 00:00:00..00:00:00"},
		{name: "queue, 4", binding: queueBinding, further: retry(4), want: "5 5 25, 00:00:40..00:00:40, 00:03:20..00:03:20"},
		{name: "queue, 5", binding: queueBinding, further: retry(5), want: "6 5 30, 00:00:50..00:00:50, 00:04:10..00:04:10"},
		{name: "queue, forever", binding: queueBinding, further: retry(-1), want: "endless 5 endless, endless, endless"},
		{name: "queue, exponential", binding: queueBinding, further: `"retry": ` + exponential, want: "5 5 25, 00:01:36..00:02:04, 00:08:00..00:10:20"},
		{name: "queue without poison queue", binding: `{"type": "queueTrigger", "name": "q", "queueName": "x-poison"}`, further: retry(1), want: "2 endless endless, 00:00:10..00:00:10, endless"},
		{name: "service bus, 4", binding: sbBinding, further: retry(4), want: "5 10 50, 00:00:40..00:00:40, 00:06:40..00:06:40"},
		{name: "service bus, 5", binding: sbBinding, further: retry(5), want: "6 10 60, 00:00:50..00:00:50, 00:08:20..00:08:20"},
		{name: "service bus, 5, documented", binding: sbBinding, further: retry(5), set: []string{"retryCounting=documented"}, want: "5 10 50, 00:00:40..00:00:40, 00:06:40..00:06:40"},
		{name: "service bus, 5, ga", binding: sbBinding, further: retry(5), set: []string{"retryTriggers=ga"}, want: "1 10 10, 00:00:00..00:00:00, 00:00:00..00:00:00"},
		{name: "timer, 5", binding: timerBinding, further: retry(5), want: "6 1 6, 00:00:50..00:00:50, 00:00:50..00:00:50"},
		{name: "http, 5", binding: httpBindings, further: retry(5), want: "6 1 6, 00:00:50..00:00:50, 00:00:50..00:00:50"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a := load(t, map[string]string{
				"local.settings.json": `{"IsEncrypted": false, "Values": {"AzureWebJobsStorage": "x", "AzureWebJobsServiceBus": "x", "Other": "y"}}`,
				"F/function.json":     functionJSON(tt.binding, tt.further),
			}, &app.Options{InProcess: true, Set: tt.set})
			wantNoFaults(t, a)
			f := app.Check(a).Functions[0]
			number := func(n int, unbounded bool) string {
				if unbounded {
					return "endless"
				}
				return fmt.Sprint(n)
			}
			wait := func(w app.WaitReport) string {
				if w.Unbounded {
					return "endless"
				}
				return w.Minimum + ".." + w.Maximum
			}
			got := fmt.Sprintf("%s %s %s, %s, %s", number(f.Attempts, f.AttemptsUnbounded), number(f.Deliveries, f.DeliveriesUnbounded),
				number(f.Total, f.TotalUnbounded), wait(f.Wait), wait(f.WaitTotal))
			if got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

// The report of a good app, as a newcomer reads it.
func TestReportText(t *testing.T) {
	t.Parallel()
	a := load(t, map[string]string{
		"host.json":             hostWith("\n\"retry\": " + exponential + `, "redeliver": {"ignore": ["L-1", "L-5"]}`),
		"Orders/function.json":  functionJSON(queueBinding, ""),
		"Invoice/function.json": functionJSON(`{"type": "queueTrigger", "name": "i", "queueName": "invoices"}`, "\n"+`"retry": `+fixed5),
		"Place/function.json":   functionJSON(httpBindings, `"retry": {"strategy": "fixedDelay", "maxRetryCount": 0, "delayInterval": "0:0"}`),
		"Tick/function.json":    functionJSON(timerBinding, `"disabled": true`),
	}, nil)
	r := app.Check(a)
	r.App = "/somewhere/shop"
	var got bytes.Buffer
	if err := r.Write(&got); err != nil {
		t.Fatal(err)
	}
	want := `shop: 4 functions

  Invoice  queueTrigger  invoices
    retry     fixedDelay, 5 retries, 10 s apart
              from the function (Invoice/function.json:2)
    attempts  6 per delivery × 5 deliveries = 30
    waiting   50 s per delivery, 4 min 10 s in all
    ends      queue "invoices-poison"

  Orders   queueTrigger  orders
    retry     exponentialBackoff, 4 retries, 10 s growing to 15 min
              from the app (host.json:2)
    attempts  5 per delivery × 5 deliveries = 25
    waiting   1 min 36 s to 2 min 4 s per delivery, 8 min to 10 min 20 s in all
    ends      queue "orders-poison"

  Place    httpTrigger  /api/Place
    retry     fixedDelay, 0 retries
              from the function (Place/function.json:1)
    attempts  1 per delivery × 1 delivery = 1
    waiting   none
    ends      500 to the caller

  Tick     timerTrigger  0 */5 * * * *
    disabled  by Tick/function.json; it is loaded but does not listen
    retry     exponentialBackoff, 4 retries, 10 s growing to 15 min
              from the app (host.json:2)
    attempts  5 per delivery × 1 delivery = 5
    waiting   1 min 36 s to 2 min 4 s
    ends      next tick

Lints switched off: L-1

no faults
`
	if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(got.String(), "\n")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// The names of the JSON form are an interface.
func TestReportJSON(t *testing.T) {
	t.Parallel()
	a := load(t, map[string]string{
		"Orders/function.json": functionJSON(queueBinding, `"retry": `+fixed5),
		"Bad/function.json":    `{"bindings": []}`,
	}, &app.Options{InProcess: true, MachineName: "box", Set: []string{"retryCounting=documented", "ignore=L-9"}})
	r := app.Check(a)
	r.App, r.HostID = "/app", "id"
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	want := `{
  "app": "/app",
  "hostId": "id",
  "blocked": false,
  "functions": [
    {
      "name": "Bad",
      "file": "Bad/function.json",
      "inError": true,
      "retry": null,
      "attemptsPerDelivery": 0,
      "deliveries": 0,
      "totalAttempts": 0,
      "waitPerDelivery": {},
      "waitTotal": {}
    },
    {
      "name": "Orders",
      "file": "Orders/function.json",
      "trigger": "queueTrigger",
      "source": "orders",
      "inError": false,
      "retry": {
        "strategy": "fixedDelay",
        "maxRetryCount": 4,
        "delayInterval": "00:00:10",
        "source": "function",
        "file": "Orders/function.json",
        "path": "retry",
        "line": 1,
        "configuredMaxRetryCount": 5
      },
      "attemptsPerDelivery": 5,
      "deliveries": 5,
      "totalAttempts": 25,
      "waitPerDelivery": {
        "minimum": "00:00:40",
        "maximum": "00:00:40"
      },
      "waitTotal": {
        "minimum": "00:03:20",
        "maximum": "00:03:20"
      },
      "end": "queue \"orders-poison\""
    }
  ],
  "errors": [
    {
      "function": "Bad",
      "file": "Bad/function.json",
      "line": 1,
      "column": 14,
      "path": "bindings",
      "found": "[]",
      "allowed": "a list with at least one binding",
      "reason": "at least one binding must be declared",
      "kind": "format",
      "first": true
    }
  ],
  "warnings": [],
  "lints": [
    {
      "id": "L-1",
      "function": "Orders",
      "file": "Orders/function.json",
      "line": 1,
      "column": 91,
      "path": "retry",
      "message": "the platform does not officially support retries on queueTrigger and may drop them; here, and there until then, the policy is active"
    }
  ]
}`
	if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(string(text), "\n")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Section 14.3: when each lint speaks and when it does not. want holds the ids
// of the function F (and those without a function).
func TestLints(t *testing.T) {
	t.Parallel()
	fixed := func(n int, delay string) string {
		return fmt.Sprintf(`"retry": {"strategy": "fixedDelay", "maxRetryCount": %d, "delayInterval": %q}`, n, delay)
	}
	grow := func(n int, low, high string) string {
		return fmt.Sprintf(`"retry": {"strategy": "exponentialBackoff", "maxRetryCount": %d, "minimumInterval": %q, "maximumInterval": %q}`, n, low, high)
	}
	timer := func(schedule string) string {
		return fmt.Sprintf(`{"type": "timerTrigger", "name": "t", "schedule": %q}`, schedule)
	}
	queue := func(name string) string {
		return fmt.Sprintf(`{"type": "queueTrigger", "name": "q", "queueName": %q}`, name)
	}
	const (
		eventGrid = `{"type": "eventGridTrigger", "name": "e"}`
		eventHub  = `{"type": "eventHubTrigger", "name": "e", "eventHubName": "h", "connection": "Storage"}`
		once      = `"redeliver": {"serviceBus": {"config": "once.json"}}`
		output    = `, {"type": "queue", "name": "out", "direction": "out", "queueName": "done"}`
	)
	for _, tt := range []struct {
		name, host, binding, further string
		env                          map[string]string
		want                         string
	}{
		{name: "nothing", binding: queueBinding},
		{name: "L-1 queue", binding: queueBinding, further: fixed(1, "00:00:01"), want: "L-1"},
		{name: "L-1 inherited", host: fixed(1, "00:00:01"), binding: httpBindings, want: "L-1"},
		{name: "L-1 not for timers", binding: timerBinding, further: fixed(1, "00:00:01")},
		{name: "L-1 not for event hubs", binding: eventHub, further: fixed(1, "00:00:01")},
		{name: "L-2", host: `"extensions": {"queues": {"visibilityTimeout": "00:00:10"}}`, binding: queueBinding, further: fixed(1, "00:00:01"), want: "L-1 L-2"},
		{name: "L-2 needs a policy", host: `"extensions": {"queues": {"visibilityTimeout": "00:00:10"}}`, binding: queueBinding},
		{name: "L-2 needs a queue", host: `"extensions": {"queues": {"visibilityTimeout": "00:00:10"}}`, binding: timerBinding, further: fixed(1, "00:00:01")},
		{name: "L-3", binding: eventHub, further: fixed(-1, "00:00:01"), want: "L-3 L-5 L-10"},
		{name: "L-4 two parts", binding: timerBinding, further: fixed(1, "0:01"), want: "L-4"},
		{name: "L-4 bare number", binding: timerBinding, further: grow(1, "00:00:01", "1"), want: "L-4"},
		{name: "L-4 above 23", binding: timer("24:00:00"), want: "L-4"},
		{name: "L-4 in host.json", host: `"functionTimeout": "5"`, binding: timerBinding, want: "L-4"},
		{name: "L-4 without effect", host: `"metadataProviderTimeout": "5"`, binding: timerBinding, want: "L-4"},
		{name: "L-4 not for -1", host: `"functionTimeout": "-1"`, binding: timerBinding},
		{name: "L-4 not for zero", binding: timerBinding, further: fixed(1, "0")},
		{name: "L-5 count", binding: timerBinding, further: fixed(6, "00:00:01"), want: "L-5"},
		{name: "L-5 bounds", binding: timerBinding, further: fixed(4, "00:01:00")},
		{name: "L-5 cap that is never reached", binding: timerBinding, further: grow(4, "00:00:01", "00:15:00")},
		{name: "L-5 cap that is reached", binding: timerBinding, further: grow(4, "00:00:30", "00:15:00"), want: "L-5 L-13"},
		{name: "L-5 no retry", binding: timerBinding, further: fixed(0, "00:15:00")},
		{name: "L-5 interval", binding: timerBinding, further: fixed(1, "00:01:01"), want: "L-5"},
		{name: "L-6", host: once, binding: `{"type": "serviceBusTrigger", "name": "m", "queueName": "once"}`, further: fixed(1, "00:00:01"), want: "L-1 L-6"},
		{name: "L-6 needs a policy", host: once, binding: `{"type": "serviceBusTrigger", "name": "m", "queueName": "once"}`},
		{name: "L-7", binding: sbBinding, further: fixed(7, "00:01:00"), want: "L-1 L-5 L-7"},
		{name: "L-7 bound", binding: sbBinding, further: fixed(6, "00:01:00"), want: "L-1 L-5"},
		{name: "L-7 renewal from host.json", host: `"extensions": {"serviceBus": {"maxAutoLockRenewalDuration": "00:10:00"}}`, binding: sbBinding, further: fixed(7, "00:01:00"), want: "L-1 L-5"},
		{name: "L-7 renewal by an older name", host: `"extensions": {"serviceBus": {"messageHandlerOptions": {"maxAutoRenewDuration": "00:10:00"}}}`, binding: sbBinding, further: fixed(7, "00:01:00"), want: "L-1 L-5"},
		{name: "L-7 batch", binding: `{"type": "serviceBusTrigger", "name": "m", "queueName": "q", "cardinality": "many"}`, further: fixed(2, "00:00:31"), want: "L-1 L-7"},
		{name: "L-8 event grid", binding: eventGrid, further: fixed(1, "00:00:31"), want: "L-1 L-8"},
		{name: "L-8 event grid bound", binding: eventGrid, further: fixed(1, "00:00:30"), want: "L-1"},
		{name: "L-8 http", binding: httpBindings, further: fixed(4, "00:00:58"), want: "L-1 L-8"},
		{name: "L-8 http bound", binding: httpBindings, further: fixed(5, "00:00:46"), want: "L-1"},
		{name: "L-8 upper bound of the jitter", binding: httpBindings, further: grow(4, "00:00:18.6", "00:10:00"), want: "L-1 L-5 L-8"},
		{name: "L-9 case", binding: timerBinding, further: `"Retry": {}`, want: "L-9"},
		{name: "L-9 spelling", binding: timerBinding, further: `"retry": {"strategy": "fixedDelay", "maxRetryCount": 1, "delayInterval": "00:00:01", "minimumIntervall": "0:1"}`, want: "L-9"},
		{name: "L-9 host.json", host: `"retri": {}`, binding: timerBinding, want: "L-9"},
		{name: "L-10 product", binding: queueBinding, further: fixed(20, "00:00:01"), want: "L-1 L-5 L-10"},
		{name: "L-10 bound", binding: queueBinding, further: fixed(19, "00:00:01"), want: "L-1 L-5"},
		{name: "L-10 time", binding: timerBinding, further: fixed(1, "1.00:00:01"), want: "L-5 L-10 L-13"},
		{name: "L-10 time over all deliveries", binding: queueBinding, further: fixed(1, "04:48:01"), want: "L-1 L-5 L-10"},
		{name: "L-11", binding: timerBinding, further: fixed(6, "00:00:00.9"), want: "L-5 L-11"},
		{name: "L-11 a second", binding: timerBinding, further: fixed(6, "00:00:01"), want: "L-5"},
		{name: "L-11 five", binding: timerBinding, further: fixed(5, "00:00:00.1")},
		{name: "L-11 growing", binding: timerBinding, further: grow(6, "00:00:00.01", "00:00:10"), want: "L-5 L-11"},
		{name: "L-11 growing beyond a second", binding: timerBinding, further: grow(9, "00:00:00.1", "00:00:10"), want: "L-5"},
		{name: "L-12 poison queue", binding: queue("orders-poison"), want: "L-12"},
		{name: "L-12 57 characters", binding: queue(strings.Repeat("q", 57)), want: "L-12"},
		{name: "L-12 63 characters", binding: queue(strings.Repeat("Q", 63)), want: "L-12"},
		{name: "L-12 56 characters", binding: queue(strings.Repeat("q", 56))},
		{name: "L-13", binding: timer("00:00:30"), further: fixed(1, "00:00:31"), want: "L-13"},
		{name: "L-13 bound", binding: timer("00:00:30"), further: fixed(1, "00:00:30")},
		{name: "L-14", env: map[string]string{"AzureFunctionsJobHost__retry__maxRetryCount": "1"}, binding: timerBinding, want: "L-14"},
		{name: "L-14 complete", host: fixed(2, "00:00:01"), env: map[string]string{"AzureFunctionsJobHost__retry__maxRetryCount": "1"}, binding: timerBinding},
		{name: "L-15", binding: timerBinding + output, further: fixed(1, "00:00:01"), want: "L-15"},
		{name: "L-15 needs a policy", binding: timerBinding + output},
		{name: "L-16 queue", binding: queue("done") + output, want: "L-16"},
		{name: "L-16 another queue", binding: queue("orders") + output},
		{name: "L-16 another account", binding: `{"type": "queueTrigger", "name": "q", "queueName": "done", "connection": "Other"}` + output},
		{name: "L-16 service bus queue", binding: sbBinding + `, {"type": "serviceBus", "name": "out", "direction": "out", "queueName": "Orders"}`, want: "L-16"},
		{name: "L-16 service bus topic", binding: `{"type": "serviceBusTrigger", "name": "m", "topicName": "t", "subscriptionName": "s"}, {"type": "serviceBus", "name": "out", "direction": "out", "topicName": "t"}`, want: "L-16"},
		{name: "L-16 event hub", binding: eventHub + `, {"type": "eventHub", "name": "out", "direction": "out", "eventHubName": "h", "connection": "Storage"}`, want: "L-16"},
		{name: "switched off", host: `"redeliver": {"ignore": ["L-1", "l-5"]}`, binding: queueBinding, further: fixed(20, "00:00:01"), want: "L-10"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			files := map[string]string{
				"local.settings.json": `{"IsEncrypted": false, "Values": {"AzureWebJobsStorage": "x", "AzureWebJobsServiceBus": "UseDevelopmentEmulator=true"}}`,
				"once.json":           `{"UserConfig": {"Namespaces": [{"Name": "sbemulatorns", "Queues": [{"Name": "once", "Properties": {"MaxDeliveryCount": 1}}]}]}}`,
				"F/function.json":     functionJSON(tt.binding, tt.further),
			}
			if tt.host != "" {
				files["host.json"] = hostWith(tt.host)
			}
			a := load(t, files, &app.Options{InProcess: true, Env: tt.env})
			var got []string
			for _, l := range app.Check(a).Lints {
				if l.File == "" || l.Path == "" || l.Message == "" {
					t.Errorf("%s names no place or says nothing: %+v", l.ID, l)
				}
				got = append(got, l.ID)
			}
			if got := strings.Join(slices.Compact(got), " "); got != tt.want {
				t.Errorf("got %q, want %q (faults %v)", got, tt.want, a.Faults)
			}
		})
	}
}
