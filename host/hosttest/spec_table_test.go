package hosttest_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redeliver/redeliver/functions"
	hostapp "github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/explain"
	"github.com/redeliver/redeliver/host/faults"
	"github.com/redeliver/redeliver/host/hosttest"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/triggers"
)

const ordersTable = "orders"

// readTable runs a function with a table input once, and returns what its handler got; ran is
// false when the handler did not run.
func readTable(t *testing.T, opts *hosttest.Options, message string, rows []string, options ...functions.OutputOption) (got string, ran bool, h *hosttest.Host) {
	t.Helper()
	app := functions.New()
	app.Queue("Read", "inbox", func(ctx context.Context, _ functions.QueueMessage) error {
		in, _ := functions.GetInput(ctx, "rows")
		got, ran = in.Text(), true
		if in.IsNull() {
			got = "null"
		}
		return nil
	}, tableIn(options))
	opts.Handlers = app
	h = hosttest.New(t, opts)
	if rows != nil {
		h.UpsertEntities(ordersTable, rows...)
	}
	h.Send("inbox", message)
	h.Advance(time.Second)
	return got, ran, h
}

func tableIn(options []functions.OutputOption) functions.Option {
	list := make([]functions.TableOption, len(options))
	for i, o := range options {
		list[i] = o
	}
	return functions.TableInput("rows", ordersTable, list...)
}

// Inputs of spec tables 9.2 and 9.3.
func TestTableInputs(t *testing.T) {
	t.Parallel()
	rows := []string{
		`{"PartitionKey":"a","RowKey":"2","n@odata.type":"Edm.Int64","n":"7","Name":"O'Hara","Age":41}`,
		`{"PartitionKey":"a","RowKey":"1","d":5.0,"w@odata.type":"Edm.DateTime","w":"2020-01-01T00:00:00Z","g@odata.type":"Edm.Guid","g":"c9da6400-0000-0000-0000-000000000001","b@odata.type":"Edm.Binary","b":"AQI=","t":true,"x":"<é>","nan@odata.type":"Edm.Double","nan":"NaN"}`,
		`{"PartitionKey":"b","RowKey":"1","Age":20}`,
	}
	const first = `{"PartitionKey":"a","RowKey":"1","d":5.0,"w":"2020-01-01T00:00:00+00:00","g":"c9da6400-0000-0000-0000-000000000001","b":"AQI=","t":true,"x":"<é>","nan":"NaN"}`
	const second = `{"PartitionKey":"a","RowKey":"2","n":7,"Name":"O'Hara","Age":41}`
	const third = `{"PartitionKey":"b","RowKey":"1","Age":20}`
	message := functions.PartitionKey("{queueTrigger}")
	for _, test := range []struct {
		name, message string
		options       []functions.OutputOption
		set           []string
		want          string // "-": the handler does not run
		failure       string
	}{
		{"partition", "a", []functions.OutputOption{message}, nil, "[" + first + "," + second + "]", ""},
		{"no entity", "z", []functions.OutputOption{message}, nil, "[]", ""},
		{"whole table", "a", nil, nil, "[" + first + "," + second + "," + third + "]", ""},
		{"take", "a", []functions.OutputOption{functions.Take(2)}, nil, "[" + first + "," + second + "]", ""},
		{"take of more than 1,000", "a", []functions.OutputOption{functions.Take(1001)}, nil, "-", "InvalidInput"},
		{"row key is ignored", "a", []functions.OutputOption{message, functions.RowKey("1")}, nil, "[" + first + "," + second + "]", ""},
		{"row key counts", "a", []functions.OutputOption{message, functions.RowKey("1")}, []string{"tableRowKey=honoured"}, first, ""},
		{"missing row", "a", []functions.OutputOption{message, functions.RowKey("9")}, []string{"tableRowKey=honoured"}, "null", ""},
		{"quotes", `{"name":"O'Hara"}`, []functions.OutputOption{functions.PartitionKey("a"), functions.Filter("Name eq '{name}'")}, nil, "[" + second + "]", ""},
		{"number", `{"age":40}`, []functions.OutputOption{functions.Filter("Age gt {age}")}, nil, "[" + second + "]", ""},
		{"no number", `{"age":"1 or true"}`, []functions.OutputOption{functions.Filter("Age gt {age}")}, nil, "-", "An invalid parameter value was specified for filter parameter 'age'."},
		{"a whole filter", `{"f":"Age eq 20 or Age eq 41"}`, []functions.OutputOption{functions.Filter("{f}")}, nil, "[" + second + "," + third + "]", ""},
		{"or without parentheses", "a", []functions.OutputOption{message, functions.Filter("Age eq 41 or Age eq 20")}, nil, "[" + second + "," + third + "]", ""},
		{"pages of partitions", "a", []functions.OutputOption{functions.Filter("Age eq 20")}, []string{"tablePages=partition"}, "[" + third + "]", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got, ran, h := readTable(t, &hosttest.Options{Set: test.set}, test.message, rows, test.options...)
			if test.want == "-" {
				a := h.Attempts("Read")
				if ran || len(a) == 0 || !strings.Contains(a[0].Error, test.failure) {
					t.Errorf("the handler ran: %v; attempts: %+v, want failure %q", ran, a, test.failure)
				}
				return
			}
			if got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
	t.Run("missing table", func(t *testing.T) {
		t.Parallel()
		_, ran, h := readTable(t, &hosttest.Options{}, "a", nil)
		if a := h.Attempts("Read"); ran || len(a) == 0 || !strings.Contains(a[0].Error, "TableNotFound") {
			t.Errorf("the handler ran: %v; attempts: %+v", ran, a)
		}
	})
}

// writeTable runs a function once that sets a value on a table output.
func writeTable(t *testing.T, value any, options ...functions.TableOption) *hosttest.Host {
	t.Helper()
	app := functions.New()
	app.Queue("Write", "inbox", func(ctx context.Context, _ functions.QueueMessage) error {
		return functions.SetOutput(ctx, "row", value)
	}, functions.TableOutput("row", ordersTable, options...))
	h := hosttest.New(t, &hosttest.Options{Handlers: app})
	return h
}

// Outputs of spec tables 9.5.
func TestTableOutputs(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		value   any
		options []functions.TableOption
		want    []string
		failure string
	}{
		{"types", map[string]any{"partitionKey": "a", "ROWKEY": "1", "n": 5, "d": 5.5, "o": map[string]any{"x": 1}, "t": true, "none": nil, "w": "2020-01-01T00:00:00.000Z"}, nil,
			[]string{`{"PartitionKey":"a","RowKey":"1","n@odata.type":"Edm.Int64","n":"5","d":5.5,"o":"{\n  \"x\": 1\n}","t":true,"w":"2020-01-01T00:00:00.000Z"}`}, ""},
		{"keys of the binding", map[string]any{"n": 1}, []functions.TableOption{functions.PartitionKey("p"), functions.RowKey("{queueTrigger}")},
			[]string{`{"PartitionKey":"p","RowKey":"m","n@odata.type":"Edm.Int64","n":"1"}`}, ""},
		{"keys of the entity win", map[string]any{"RowKey": "2"}, []functions.TableOption{functions.PartitionKey("p"), functions.RowKey("1")}, []string{`{"PartitionKey":"p","RowKey":"2"}`}, ""},
		{"an array as text", `[{"PartitionKey":"a","RowKey":"1"},{"PartitionKey":"b","RowKey":"1"}]`, nil, []string{`{"PartitionKey":"a","RowKey":"1"}`, `{"PartitionKey":"b","RowKey":"1"}`}, ""},
		{"types by annotation", `{"PartitionKey":"a","RowKey":"1","g@odata.type":"Edm.Guid","g":"c9da6400-0000-0000-0000-000000000001"}`, nil,
			[]string{`{"PartitionKey":"a","RowKey":"1","g@odata.type":"Edm.Guid","g":"c9da6400-0000-0000-0000-000000000001"}`}, ""},
		{"no entity", "hello", nil, nil, "an entity must be a JSON object"},
		{"an element that is none", `[{"PartitionKey":"a","RowKey":"1"},5]`, nil, nil, "an entity must be a JSON object"},
		{"a key with a slash", map[string]any{"PartitionKey": "a/b", "RowKey": "1"}, nil, nil, "'a/b' is not a valid value for a partition key or row key."},
		{"no key", map[string]any{"RowKey": "1"}, nil, nil, "'' is not a valid value for a partition key or row key."},
		{"a key that is no text", map[string]any{"PartitionKey": 5, "RowKey": "1"}, nil, nil, "Cannot return System.String type for a System.Int64 typed property"},
		{"an ETag of nothing", map[string]any{"PartitionKey": "a", "RowKey": "1", "ETag": "W/\"datetime'2020-01-01T00%3A00%3A00Z'\""}, nil, nil, "0:ResourceNotFound"},
		{"replaced", `[{"PartitionKey":"a","RowKey":"1","n":1},{"PartitionKey":"a","RowKey":"1","etag":"*","m":"x"}]`, nil, []string{`{"PartitionKey":"a","RowKey":"1","m":"x"}`}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			h := writeTable(t, test.value, test.options...)
			h.Send("inbox", "m")
			if test.failure == "" {
				h.WantSettled("Write", triggers.Deleted)
			} else if a := h.Attempts("Write"); len(a) == 0 || !strings.Contains(a[0].Error, test.failure) {
				t.Errorf("attempts: %+v, want %q", a, test.failure)
			}
			h.WantEntities(ordersTable, test.want...)
		})
	}
}

// A partition is written by a hundred, partitions each by themselves.
func TestTableOutputGroups(t *testing.T) {
	t.Parallel()
	var list []map[string]any
	for i := range 250 {
		list = append(list, map[string]any{"PartitionKey": "a", "RowKey": fmt.Sprintf("%03d", i)})
	}
	list = append(list, map[string]any{"PartitionKey": "b", "RowKey": "1"})
	h := writeTable(t, list)
	h.WriteEntities(ordersTable, `{"PartitionKey":"b","RowKey":"1"}`)
	h.Send("inbox", "m")
	var got []string
	for _, r := range h.Journal().Records() {
		if r.Kind == journal.TableWritten {
			got = append(got, r.Fields[0].Value+" "+r.Fields[1].Value+" "+r.Status+" "+r.Error)
		}
	}
	want := []string{"a 100 succeeded ", "a 100 succeeded ", "a 50 succeeded ", "b 1 failed EntityAlreadyExists"}
	if len(got) < 4 || strings.Join(got[:4], "\n") != strings.Join(want, "\n") {
		t.Errorf("transactions:\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if n := len(h.Entities(ordersTable)); n != 251 {
		t.Errorf("%d entities, want 251", n)
	}
}

// A retried insert meets its own row until the message is poison; ETag "*" ends that (9.6).
func TestTableOutputMeetsItself(t *testing.T) {
	t.Parallel()
	run := func(t *testing.T, entity string, failures int) *hosttest.Host {
		app := functions.New()
		app.Queue("Write", "inbox", func(ctx context.Context, _ functions.QueueMessage) error {
			return errors.Join(functions.SetOutput(ctx, "row", entity), functions.SetOutput(ctx, "mail", "sent"))
		}, functions.TableOutput("row", ordersTable), functions.QueueOutput("mail", "mail"), functions.FixedDelay(4, time.Second))
		h := hosttest.New(t, &hosttest.Options{Handlers: app})
		h.FailOutput("Write/mail", failures, "")
		h.Send("inbox", "m")
		return h
	}
	t.Run("insert", func(t *testing.T) {
		t.Parallel()
		h := run(t, `{"PartitionKey":"a","RowKey":"7"}`, 1)
		h.AwaitSettled("Write", triggers.Poisoned)
		h.WantAttempts("Write", 25)
		h.WantEntities(ordersTable, `{"PartitionKey":"a","RowKey":"7"}`)
		for _, a := range h.Attempts("Write")[1:] {
			if !strings.Contains(a.Error, "EntityAlreadyExists") {
				t.Errorf("attempt %d: %s", a.Attempt, a.Error)
			}
		}
		const says = `table orders refuses row "7" of partition "a": EntityAlreadyExists; the row was written at 2030-01-01T00:00:00Z by attempt 1 of delivery`
		if lives := explain.Explain(h.Journal().Records(), explain.Subject{Function: "Write"}); len(lives) != 1 || strings.Count(lives[0].Text(), says) != 24 {
			t.Errorf("explain does not say 24 times %q:\n%s", says, lives[0].Text())
		}
	})
	t.Run("replace", func(t *testing.T) {
		t.Parallel()
		h := run(t, `{"PartitionKey":"a","RowKey":"7","ETag":"*"}`, 1)
		h.AwaitSettled("Write", triggers.Deleted)
		h.WantAttempts("Write", 2)
	})
	t.Run("another's row", func(t *testing.T) {
		t.Parallel()
		h := writeTable(t, `{"PartitionKey":"a","RowKey":"7"}`)
		h.WriteEntities(ordersTable, `{"PartitionKey":"a","RowKey":"7"}`)
		h.Send("inbox", "m")
		if lives := explain.Explain(h.Journal().Records(), explain.Subject{Function: "Write"}); !strings.Contains(lives[0].Text(), "not by an output that the journal has") {
			t.Errorf("explain says:\n%s", lives[0].Text())
		}
	})
	t.Run("lost answer", func(t *testing.T) {
		t.Parallel()
		h := writeTable(t, `{"PartitionKey":"a","RowKey":"7"}`)
		h.Inject(faults.Fault{Service: "table", Operation: "Transaction", After: true, Times: 1, Error: "ServerBusy"})
		h.Send("inbox", "m")
		h.AwaitSettled("Write", triggers.Poisoned)
		h.WantAttempts("Write", 5)
	})
}

// A library in the worker is told what to read (spec tables 9.4).
func TestTableModels(t *testing.T) {
	t.Parallel()
	var got string
	app := functions.New()
	app.Queue("Read", "inbox", func(ctx context.Context, _ functions.QueueMessage) error {
		in, _ := functions.GetInput(ctx, "rows")
		got = in.Value.Plain().Text
		return nil
	}, functions.Binding(`{"type":"table","direction":"in","name":"rows","tableName":"t{queueTrigger}","partitionKey":"{queueTrigger}","take":3,"properties":{"supportsDeferredBinding":"True"}}`))
	h := hosttest.New(t, &hosttest.Options{Handlers: app})
	h.Send("inbox", "abc")
	if want := `{"TableName":"tabc","Take":3,"Filter":null,"Connection":"AzureWebJobsStorage","PartitionKey":"abc","RowKey":null}`; got != want {
		t.Errorf("the model is %s, want %s", got, want)
	}
}

// Lints of spec tables 9.7.
func TestTableLints(t *testing.T) {
	t.Parallel()
	app := functions.New()
	app.Queue("Work", "inbox", func(context.Context, functions.QueueMessage) error { return nil },
		functions.TableInput("one", ordersTable, functions.PartitionKey("a"), functions.RowKey("1")),
		functions.TableInput("many", ordersTable, functions.PartitionKey("a"), functions.Filter("a eq 1 or b eq 2"), functions.Take(1001)),
		functions.TableInput("right", ordersTable, functions.PartitionKey("a"), functions.Filter("(a eq 1 or b eq 'x or y')")),
		functions.TableOutput("row", ordersTable), functions.TableOutput("new", ordersTable, functions.PartitionKey("a"), functions.RowKey("{rand-guid}")))
	h := hosttest.New(t, &hosttest.Options{Handlers: app})
	var got []string
	for _, l := range hostapp.Lints(h.App()) {
		got = append(got, l.ID+" "+l.Path)
	}
	want := "L-18 Work.bindings[2].filter\nL-19 Work.bindings[4].tableName\nL-20 Work.bindings[2].take\nL-21 Work.bindings[1].rowKey"
	if strings.Join(got, "\n") != want {
		t.Errorf("lints:\n%s\nwant\n%s", strings.Join(got, "\n"), want)
	}
}
