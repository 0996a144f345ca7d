package cosmosdb

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/cosmos"
	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/kinds"
	"github.com/redeliver/redeliver/schemas"
)

// unserved says what of an input is not served: clients of the SDK, and queries that are more
// than words of equality.
func unserved(b *app.Binding) string {
	if b.String("databaseName") == "" || b.String("containerName") == "" {
		return "is a binding of the platform (Cosmos DB) without a container, a CosmosClient or Database, that Redeliver does not serve"
	}
	text := b.String("sqlQuery")
	if text == "" || b.String("id") != "" {
		return ""
	}
	if _, err := parseQuery(text); err != nil {
		return "is a binding of the platform (Cosmos DB) with a query that Redeliver does not serve: " + err.Error()
	}
	return ""
}

func validateBinding(_ *app.App, _ *app.Function, b *app.Binding) []*schemas.Fault {
	faults := kinds.MissingNames(b, "databaseName", "containerName")
	for _, key := range []string{"id", "partitionKey"} {
		if b.Direction == "in" && b.String(key) != "" {
			faults = append(faults, kinds.MissingNames(b, key)...)
		}
	}
	return faults
}

// input reads one document, or a list of them.
type input struct {
	account                      cosmos.Account
	database, container, id, key *bindings.Template // id and key may be nil
	query                        *query
}

func newInput(f *kinds.Function, b *app.Binding) (kinds.Input, error) {
	account, err := accountOf(f, b)
	if err != nil {
		return nil, err
	}
	i := &input{account: account, query: &query{}}
	for key, to := range map[string]**bindings.Template{"databaseName": &i.database, "containerName": &i.container, "id": &i.id, "partitionKey": &i.key} {
		if text := b.String(key); text != "" {
			if *to, err = bindings.ParseTemplate(text); err != nil {
				return nil, err
			}
		}
	}
	if text := b.String("sqlQuery"); text != "" && i.id == nil {
		i.query, err = parseQuery(text)
	}
	return i, err
}

// Read implements kinds.Input: a document, null when it or its container is not there; without
// an identifier the documents of the query in the order of their identifiers, of one partition
// key if one is given. A container that is missing fails the attempt then.
//
// Source: CDB, Bindings/CosmosDBItemValueBinder.cs, CosmosDBEnumerableBuilder.cs.
func (i *input) Read(ctx context.Context, a kinds.Attempt) (bindings.Value, error) {
	var texts [4]string
	for n, t := range []*bindings.Template{i.database, i.container, i.id, i.key} {
		if t == nil {
			continue
		}
		var err error
		if texts[n], err = t.Resolve(a.Data()); err != nil {
			return bindings.Value{}, err
		}
	}
	var key cosmos.Key
	if i.key != nil {
		key = cosmos.KeyText(texts[3])
	}
	c, err := i.account.Container(ctx, texts[0], texts[1])
	if i.id == nil {
		if err != nil {
			return bindings.Value{}, err
		}
		return i.list(ctx, a, c, key)
	}
	var item *cosmos.Item
	if err == nil {
		item, err = c.Read(ctx, texts[2], key)
	}
	switch {
	case errors.Is(err, bindings.ErrNotFound):
		return bindings.Value{}, nil
	case err != nil:
		return bindings.Value{}, err
	}
	return bindings.JSONValue(item.Body), nil
}

func (i *input) list(ctx context.Context, a kinds.Attempt, c cosmos.Container, key cosmos.Key) (bindings.Value, error) {
	q, err := i.query.resolved(a.Data())
	if err != nil {
		return bindings.Value{}, err
	}
	items, err := c.Items(ctx, "")
	if err != nil {
		return bindings.Value{}, err
	}
	list := []json.RawMessage{}
	for _, item := range items {
		if i.key != nil && item.Key != key {
			continue
		}
		ok, err := q.holds(item.Body)
		if err != nil {
			return bindings.Value{}, err
		}
		if ok {
			list = append(list, item.Body)
		}
	}
	text := make([]string, len(list))
	for n, body := range list {
		text[n] = string(body)
	}
	return bindings.JSONValue([]byte("[" + strings.Join(text, ",") + "]")), nil
}
