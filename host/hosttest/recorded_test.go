package hosttest_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host/hosttest"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/host/recorded"
	"github.com/redeliver/redeliver/triggers"
)

// notifyApp sends a mail and writes two rows for each order.
func notifyApp(opts ...functions.Option) *functions.App {
	app := functions.New()
	options := []functions.QueueOption{
		functions.Binding(`{"type":"sendGrid","direction":"out","name":"mail","apiKey":"SendGridKey","from":"shop@example.com"}`),
		functions.Binding(`{"type":"sql","direction":"out","name":"rows","commandText":"dbo.Orders","connectionStringSetting":"Sql"}`),
		functions.Binding(`{"type":"kusto","direction":"out","name":"entity","tableName":"orders"}`),
	}
	for _, o := range opts {
		options = append(options, o)
	}
	app.Queue("Notify", "orders", func(ctx context.Context, m functions.QueueMessage) error {
		for name, v := range map[string]any{
			"mail":   map[string]string{"subject": m.Text()},
			"rows":   []map[string]string{{"id": m.Text()}},
			"entity": map[string]string{"PartitionKey": "orders", "RowKey": m.Text()},
		} {
			if err := functions.SetOutput(ctx, name, v); err != nil {
				return err
			}
		}
		return nil
	}, options...)
	return app
}

// Outputs that are not served do not stop their function: what it sets is recorded.
func TestForeignOutputRuns(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t, &hosttest.Options{Handlers: notifyApp()})
	h.WantOutput("Notify")
	h.Send("orders", "7")
	h.AwaitSettled("Notify", triggers.Deleted)
	h.WantOutput("Notify/mail", `{"subject":"7"}`)
	h.WantOutput("notify/ROWS", `[{"id":"7"}]`)
	h.WantOutput("Notify/entity", `{"PartitionKey":"orders","RowKey":"7"}`)

	mail := h.Outputs("Notify")[0]
	want := recorded.RecordedOutput{
		Time: hosttest.Start, Function: "Notify", Binding: "mail", Type: "sendGrid",
		Delivery: "d1", Invocation: mail.Invocation, Attempt: 1, MessageID: mail.MessageID, Body: mail.Body, Size: 15,
	}
	if diff := cmp.Diff(want, mail); diff != "" || mail.Invocation == "" || mail.MessageID == "" {
		t.Errorf("recorded mail (-want +got):\n%s", diff)
	}
	rec := h.Select(func(r *journal.Record) bool { return r.Kind == journal.OutputRecorded })[0]
	line := `"name":"mail","fields":{"bytes":"15","value":"{\"subject\":\"7\"}"}`
	if rec.Delivery != "d1" || rec.Target != "sendGrid" || !strings.Contains(rec.String(), line) {
		t.Errorf("journal: %s\nwant target sendGrid and %s", rec, line)
	}
}

// A recorded output that is made to fail fails its attempt, as every other output does:
// the others of the attempt are written, and the next attempt writes all again.
func TestForeignOutputFails(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t, &hosttest.Options{Handlers: notifyApp(functions.FixedDelay(4, time.Minute))})
	if err := h.FailOutput("Notify/mail", 2, "no such recipient"); err != nil {
		t.Fatal(err)
	}
	h.Send("orders", "7")
	h.AwaitSettled("Notify", triggers.Deleted)
	h.WantAttempts("Notify", 3)
	h.WantOutput("Notify/mail", `{"subject":"7"}`)
	h.WantOutput("Notify/rows", `[{"id":"7"}]`, `[{"id":"7"}]`, `[{"id":"7"}]`)
	if got := h.Attempts("Notify")[0].Error; !strings.Contains(got, `output binding "mail": no such recipient`) {
		t.Errorf("first attempt: %s", got)
	}
	faults := h.Select(func(r *journal.Record) bool { return r.Kind == journal.FaultInjected })
	if len(faults) != 2 || faults[0].Function != "Notify" || faults[0].Name != "mail" || faults[0].Error != "no such recipient" {
		t.Errorf("faults in the journal: %v", faults)
	}
}

// A fault for all writes goes on until it is lifted, and any output can have one.
func TestAnyOutputFails(t *testing.T) {
	t.Parallel()
	app := functions.New()
	app.Queue("Relay", "orders", func(ctx context.Context, m functions.QueueMessage) error {
		return functions.SetOutput(ctx, "next", m.Text())
	}, functions.QueueOutput("next", "invoices"))
	h := hosttest.New(t, &hosttest.Options{Handlers: app})
	if err := h.FailOutput("Other", 1, ""); !errors.Is(err, recorded.ErrUnknown) {
		t.Errorf("fault of an unknown output: %v", err)
	}
	if err := h.FailOutput("Relay", -1, ""); err != nil {
		t.Fatal(err)
	}
	h.Send("orders", "7")
	h.AwaitSettled("Relay", triggers.Poisoned)
	h.WantAttempts("Relay", 5)
	h.WantQueue("invoices")
	if err := h.FailOutput("Relay", 0, ""); err != nil {
		t.Fatal(err)
	}
	h.Send("orders", "8")
	h.AwaitSettled("Relay", triggers.Deleted)
	h.WantQueue("invoices", "8")
}

// Recorded outputs stay over a reload, and a reset forgets them and their faults.
// Their values have a limit in the journal.
func TestRecordedOutputsLast(t *testing.T) {
	t.Parallel()
	h := hosttest.New(t, &hosttest.Options{Handlers: notifyApp()})
	h.Send("orders", "7")
	h.AwaitSettled("Notify", triggers.Deleted)
	if err := h.Edit("host.json", `{"version":"2.0","functionTimeout":"00:04:00"}`); err != nil {
		t.Fatal(err)
	}
	h.WantOutput("Notify/mail", `{"subject":"7"}`)
	if err := h.FailOutput("Notify", -1, ""); err != nil {
		t.Fatal(err)
	}
	if err := h.ResetState(); err != nil {
		t.Fatal(err)
	}
	h.WantOutput("Notify")
	h.Send("orders", strings.Repeat("ä", 5_000))
	h.AwaitSettled("Notify", triggers.Deleted)
	h.WantAttempts("Notify", 2)
	rec := h.Select(func(r *journal.Record) bool { return r.Kind == journal.OutputRecorded && r.Name == "rows" })[1]
	if value := rec.Fields[1].Value; len(value) > 4<<10 || len(value) < 4<<10-4 || !strings.HasSuffix(value, "ä") || rec.Fields[0].Value != "10011" {
		t.Errorf("the journal holds %d bytes of %s", len(value), rec.Fields[0].Value)
	} else if unsafe.StringData(value) == unsafe.StringData(*h.Outputs("Notify/rows")[0].Body) {
		t.Error("the journal keeps the memory of the whole value, which it does not count")
	}
}

// A foreign input has the value that host.json gives it; a function whose input has none
// does not run, and the others do.
func TestFixedInputs(t *testing.T) {
	t.Parallel()
	type seen struct{ Text, JSON string }
	var got []seen
	app := functions.New()
	app.Queue("Price", "orders", func(ctx context.Context, _ functions.QueueMessage) error {
		name, _ := functions.GetInput(ctx, "name")
		row, _ := functions.GetInput(ctx, "row")
		got = append(got, seen{name.Text(), row.Text()})
		return nil
	}, functions.Binding(`{"type":"daprSecret","name":"name","direction":"in","secretStoreName":"s","key":"k"}`),
		functions.Binding(`{"type":"kusto","name":"row","direction":"in","tableName":"prices"}`))
	app.Queue("Total", "orders2", func(context.Context, functions.QueueMessage) error { return nil },
		functions.Binding(`{"type":"cosmosDB","name":"order","direction":"in","databaseName":"shop","containerName":"orders","sqlQuery":"SELECT TOP 1 * FROM c"}`))
	host := func(inputs string) string { return `{"version":"2.0","redeliver":{"inputs":` + inputs + `}}` }
	h := hosttest.New(t, &hosttest.Options{
		Handlers: app, InError: []string{"Total"},
		Env:   []string{"AzureFunctionsJobHost__redeliver__inputs__Price__name=Ada"},
		Files: map[string]string{"host.json": host(`{"price":{"Name":"Eve","row":{"price":10.50}},"Prize":{}}`)},
	})
	h.Send("orders", "7")
	h.AwaitSettled("Price", triggers.Deleted)
	if diff := cmp.Diff([]seen{{"Ada", `{"price":10.50}`}}, got); diff != "" {
		t.Errorf("inputs (-want +got):\n%s", diff)
	}
	if w := h.App().Warnings; len(w) != 1 || !strings.Contains(w[0].Error(), "redeliver.inputs.Prize") || w[0].Hint != `write "Price" if that is meant` {
		t.Errorf("warnings: %v", w)
	}
	fault := h.App().Function("Total").Warnings[0]
	if !strings.Contains(fault.Reason, "(Cosmos DB) with a query that Redeliver does not serve") || !strings.Contains(fault.Hint, "redeliver.inputs.Total.order") {
		t.Errorf("fault of an input without a value: %v; hint: %s", fault, fault.Hint)
	}
	if err := h.Edit("host.json", host(`{"Price":{"row":[]},"Total":{"order":{}}}`)); err != nil {
		t.Fatal(err)
	}
	h.Send("orders", "8")
	h.AwaitSettled("Price", triggers.Deleted)
	h.Send("orders2", "9")
	h.AwaitSettled("Total", triggers.Deleted)
	if diff := cmp.Diff(seen{"Ada", `[]`}, got[1]); diff != "" {
		t.Errorf("inputs after the edit (-want +got):\n%s", diff)
	}
	if err := h.Edit("host.json", host(`{}`)); err == nil || !strings.Contains(err.Error(), "Price") {
		t.Errorf("an edit that takes the values of running functions: %v, want a refusal", err)
	}
}

// Fixed values by key: the first whose conditions the properties of the attempt meet. A
// name that the binding lacks is refused with the one that is meant.
func TestFixedInputsByKey(t *testing.T) {
	t.Parallel()
	var got []string
	app := functions.New()
	app.Queue("Price", "orders", func(ctx context.Context, _ functions.QueueMessage) error {
		row, _ := functions.GetInput(ctx, "row")
		got = append(got, row.Text())
		return nil
	}, functions.Binding(`{"type":"sql","name":"row","direction":"in","commandText":"select * from P where id = @id","parameters":"@id={id}","take":5}`))
	host := func(list string) string {
		return `{"version":"2.0","redeliver":{"inputs":{"Price":{"row":` + list + `}}}}`
	}
	const one = `{"when":{"Parameters":"@id=1"},"value":{"price":1}}`
	h := hosttest.New(t, &hosttest.Options{Handlers: app, Files: map[string]string{
		"host.json": host(`[` + one + `,{"when":{"parameters":"@id=2","take":5},"value":"two"},{"when":{"parameters":"@id=2"},"value":"no"},{"when":{"parameters":"@id=3"},"value":null}]`),
	}})
	for _, id := range []string{"1", "2", "3"} {
		h.Send("orders", `{"id":`+id+`}`)
		h.AwaitSettled("Price", triggers.Deleted)
	}
	if diff := cmp.Diff([]string{`{"price":1}`, "two", ""}, got); diff != "" {
		t.Errorf("values (-want +got):\n%s", diff)
	}
	h.Send("orders", `{"id":4}`)
	h.AwaitSettled("Price", triggers.Poisoned)
	attempts := h.Attempts("Price")
	const none = `input binding "row": no fixed value of host.json (redeliver.inputs) is for parameters "@id=4", take "5"`
	if last := attempts[len(attempts)-1]; !strings.Contains(last.Error, none) || len(got) != 3 {
		t.Errorf("an attempt without a value: %s, want %s; handlers ran: %d", last.Error, none, len(got))
	}
	for list, want := range map[string]string{
		`[` + one + `,{"value":"else"}]`:               "",
		`[{"value":[1]}]`:                              "", // a list as it is
		`[{"when":{"parameter":"@id=1"},"value":1}]`:   `is "parameters" meant?`,
		`[{"when":{"name":"row"},"value":1}]`:          `has no such property`,
		`[{"wen":{"parameters":"@id=1"},"value":1}]`:   `is "when" meant?`,
		`[` + one + `,{"when":{"take":5}}]`:            `an object with when (an object) and value`,
		`[` + one + `,{"when":[],"value":1}]`:          `an object with when (an object) and value`,
		`[{"when":{"parameters":{"id":1}},"value":1}]`: `a text, a number, true or false`,
	} {
		err := h.Edit("host.json", host(list))
		if got := fmt.Sprint(err); want == "" && err != nil || want != "" && !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %q", list, got, want)
		}
	}
}

// An edit that turns the trigger of a running function into one that is not served stops
// that function; the reload is not refused, and the others go on.
func TestTriggerBecomesForeign(t *testing.T) {
	t.Parallel()
	app := functions.New()
	handler := func(context.Context, *functions.Trigger) error { return nil }
	app.Handle("Hello", handler)
	app.Handle("Orders", handler)
	queue := func(name string) string {
		return `{"bindings":[{"type":"queueTrigger","name":"m","queueName":"` + name + `"}]}`
	}
	h := hosttest.New(t, &hosttest.Options{Handlers: app, Files: map[string]string{
		"Hello/function.json": queue("hello"), "Orders/function.json": queue("orders"),
	}})
	edit := `{"bindings":[{"type":"kafkaTrigger","name":"m"},{"type":"sendGrid","name":"mail","direction":"out"}]}`
	if err := h.Edit("Hello/function.json", edit); err != nil {
		t.Fatalf("the reload was refused: %v", err)
	}
	if f := h.App().Function("Hello"); f.NotServed == "" || f.InError() || len(f.Warnings) != 1 {
		t.Errorf("not served %q, faults %v, warnings %v", f.NotServed, f.Faults, f.Warnings)
	}
	h.Send("hello", "1")
	h.Send("orders", "2")
	h.AwaitSettled("Orders", triggers.Deleted)
	h.WantQueue("hello", "1")
	if err := h.Edit("Hello/function.json", queue("hello")); err != nil {
		t.Fatal(err)
	}
	h.AwaitSettled("Hello", triggers.Deleted)
}
