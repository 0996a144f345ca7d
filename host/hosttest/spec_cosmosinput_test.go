package hosttest_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/redeliver/redeliver/bindings/cosmos"
	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host/hosttest"
	"github.com/redeliver/redeliver/triggers"
)

// Inputs of Cosmos DB: a document by identifier and key, lists by a query without WHERE or
// with equality, of one partition or of all.
func TestCosmosInputs(t *testing.T) {
	t.Parallel()
	const message = `{"id":"2","pk":"a","kind":"x","n":"5"}`
	for _, test := range []struct{ name, properties, want string }{
		{"a document", `"id":"{id}","partitionKey":"{pk}"`, "2"},
		{"a document of no key", `"id":"none","partitionKey":"a"`, "null"},
		{"a document of another key", `"id":"{id}","partitionKey":"b"`, "null"},
		{"all", ``, "1 2 3"},
		{"a partition", `"partitionKey":"{pk}"`, "1 2"},
		{"no where", `"sqlQuery":"SELECT * FROM c"`, "1 2 3"},
		{"no where, other words", `"sqlQuery":"select value c\nfrom orders AS c"`, "1 2 3"},
		{"an expression", `"sqlQuery":"SELECT * FROM c WHERE c.kind = {kind}"`, "1 3"},
		{"an expression is a text", `"sqlQuery":"SELECT * FROM c WHERE c.n = {n}"`, ""},
		{"constants", `"sqlQuery":"SELECT * FROM o c WHERE c.n = 5 AND c[\"at\"].city = 'Oslo' and c.open = true"`, "2"},
		{"null", `"sqlQuery":"SELECT * FROM c WHERE c.none = null"`, "3"},
		{"in a partition", `"sqlQuery":"SELECT * FROM c WHERE c.kind = {kind}","partitionKey":"a"`, "1"},
		{"an id beside a query", `"id":"1","partitionKey":"a","sqlQuery":"SELECT TOP 1 * FROM c"`, "1"},
		{"another container", `"containerName":"none","id":"1","partitionKey":"a"`, "null"},
		{"a list of another container", `"containerName":"none"`, "-"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got := "-"
			app := functions.New()
			app.Queue("Read", "inbox", func(ctx context.Context, _ functions.QueueMessage) error {
				in, _ := functions.GetInput(ctx, "doc")
				got = documentIDs(t, in)
				return nil
			}, functions.Binding(cosmosInput(test.properties)))
			h := hosttest.New(t, &hosttest.Options{Handlers: app})
			h.Act("create a container", func(ctx context.Context) {
				if _, err := h.Services().Cosmos().CreateContainer(ctx, cosmos.ContainerSpec{Database: "shop", Name: "orders", PartitionKey: "/pk"}); err != nil {
					t.Error(err)
				}
			})
			h.WriteCosmos("shop", "orders", `{"id":"1","pk":"a","kind":"x"}`, `{"id":"2","pk":"a","kind":"y","n":5,"at":{"city":"Oslo"},"open":true}`, `{"id":"3","pk":"b","kind":"x","none":null}`)
			h.Send("inbox", message)
			if test.want == "-" {
				h.AwaitSettled("Read", triggers.Poisoned)
			}
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// cosmosInput is an input; what properties name again counts.
func cosmosInput(properties string) string {
	text := `{"type":"cosmosDB","name":"doc","direction":"in","databaseName":"shop",`
	if !strings.Contains(properties, "containerName") {
		text += `"containerName":"orders",`
	}
	return strings.TrimSuffix(text+properties, ",") + "}"
}

// documentIDs are the identifiers of an input's documents.
func documentIDs(t *testing.T, in functions.Input) string {
	if in.IsNull() {
		return "null"
	}
	var list []struct{ ID string }
	if !strings.HasPrefix(in.Text(), "[") {
		list = make([]struct{ ID string }, 1)
		if err := in.Decode(&list[0]); err != nil {
			t.Error(err)
		}
	} else if err := in.Decode(&list); err != nil {
		t.Error(err)
	}
	var ids []string
	for _, one := range list {
		ids = append(ids, one.ID)
	}
	return strings.Join(ids, " ")
}

// A query that is not served sets its function aside, and says what is served; a fixed value
// takes its place.
func TestCosmosQueries(t *testing.T) {
	t.Parallel()
	for _, query := range []string{
		"SELECT TOP 1 * FROM c", "SELECT c.id FROM c", "SELECT * FROM c ORDER BY c.n", "SELECT * FROM c WHERE", "SELECT * FROM c WHERE c.n > 5",
		"SELECT * FROM c WHERE c.n = 5 OR c.n = 6", "SELECT * FROM c WHERE c.n = 5 AND", "SELECT * FROM c WHERE d.n = 5", "SELECT * FROM c WHERE c.n = '{n}'",
		"SELECT * FROM c WHERE (c.n = 5)", "SELECT VALUE d FROM c", "SELECT * FROM c JOIN t IN c.tags", "SELECT * FROM c WHERE c.n = 1e", "DELETE FROM c",
	} {
		app := functions.New()
		app.Queue("Read", "inbox", func(context.Context, functions.QueueMessage) error { return nil }, functions.Binding(cosmosInput(fmt.Sprintf(`"sqlQuery":%q`, query))))
		h := hosttest.New(t, &hosttest.Options{Handlers: app, InError: []string{"Read"}})
		if w := h.App().Function("Read").Warnings; len(w) != 1 || !strings.Contains(w[0].Reason, "with a query that Redeliver does not serve") || !strings.Contains(w[0].Hint, "redeliver.inputs.Read.doc") {
			t.Errorf("%s: warnings %v", query, w)
		}
	}
	var got string
	app := functions.New()
	app.Queue("Read", "inbox", func(ctx context.Context, _ functions.QueueMessage) error {
		in, _ := functions.GetInput(ctx, "doc")
		got = in.Text()
		return nil
	}, functions.Binding(cosmosInput(`"sqlQuery":"SELECT TOP 1 * FROM c WHERE c.n > {n}"`)))
	h := hosttest.New(t, &hosttest.Options{Handlers: app, Files: map[string]string{
		"host.json": `{"version":"2.0","redeliver":{"inputs":{"Read":{"doc":[{"when":{"sqlQuery":"SELECT TOP 1 * FROM c WHERE c.n > 7"},"value":[{"id":"9"}]}]}}}}`,
	}})
	h.Send("inbox", `{"n":7}`)
	if got != `[{"id":"9"}]` {
		t.Errorf("the fixed value is %s", got)
	}
}
