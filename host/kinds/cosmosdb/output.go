package cosmosdb

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/redeliver/redeliver/bindings/cosmos"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/kinds"
)

// Binding is the Cosmos DB input and output.
func Binding() kinds.Binding {
	both := []string{"in", "out"}
	return kinds.Binding{
		BindingKind: app.BindingKind{
			Type: "cosmosDB", Of: "Cosmos DB", Directions: both, Served: both, Connection: "CosmosDB",
			Unserved: unserved, Validate: validateBinding,
		},
		Output: newOutput, Input: newInput,
	}
}

// output creates or replaces documents.
type output struct {
	account             cosmos.Account
	database, container *bindings.Template
	key                 string // of a container that is made; empty: none is
}

// accountOf is the account that a binding means.
func accountOf(f *kinds.Function, b *app.Binding) (cosmos.Account, error) {
	return f.Connections.Cosmos(f.App().Settings, cmp.Or(b.Connection, "CosmosDB"))
}

func newOutput(f *kinds.Function, b *app.Binding) (kinds.Output, error) {
	account, err := accountOf(f, b)
	if err != nil {
		return nil, err
	}
	o := &output{account: account}
	if o.database, err = bindings.ParseTemplate(b.String("databaseName")); err != nil {
		return nil, err
	}
	if o.container, err = bindings.ParseTemplate(b.String("containerName")); err != nil {
		return nil, err
	}
	if kinds.IsTrue(b.Value("createIfNotExists"), false) {
		if o.key = b.String("partitionKey"); o.key == "" {
			o.key = "/id"
		}
	}
	return o, nil
}

// Write creates or replaces one document for each element of the value, one after
// the other: those before a failure are stored.
//
// Source: CDB: Bindings/CosmosDBAsyncCollector.cs.
func (o *output) Write(ctx context.Context, a kinds.Attempt, v bindings.Value) error {
	database, err := o.database.Resolve(a.Data())
	if err != nil {
		return err
	}
	name, err := o.container.Resolve(a.Data())
	if err != nil {
		return err
	}
	documents, err := documentsFrom(v)
	if err != nil || len(documents) == 0 {
		return err
	}
	c, err := o.account.Container(ctx, database, name)
	if errors.Is(err, bindings.ErrNotFound) && o.key != "" {
		c, err = o.account.CreateContainer(ctx, cosmos.ContainerSpec{Database: database, Name: name, PartitionKey: o.key})
		if errors.Is(err, bindings.ErrAlreadyExists) {
			c, err = o.account.Container(ctx, database, name)
		}
	}
	if err != nil {
		return err
	}
	for _, text := range documents {
		if _, err := c.Upsert(ctx, text); err != nil {
			return err
		}
	}
	return nil
}

// documentsFrom splits an output's value into documents: an array stands for its
// elements.
func documentsFrom(v bindings.Value) ([][]byte, error) {
	switch v.Kind {
	case bindings.Null:
		return nil, nil
	case bindings.String, bindings.JSON:
		return documentsFromText([]byte(v.Text))
	case bindings.Bytes:
		return documentsFromText(v.Data)
	case bindings.Strings, bindings.BytesList:
		var out [][]byte
		for _, e := range v.List {
			documents, err := documentsFrom(e)
			if err != nil {
				return nil, err
			}
			out = append(out, documents...)
		}
		return out, nil
	}
	return nil, errNoDocument
}

var errNoDocument = errors.New("a document must be a JSON object")

func documentsFromText(text []byte) ([][]byte, error) {
	trimmed := strings.TrimSpace(string(text))
	switch {
	case trimmed == "" || trimmed == "null":
		return nil, nil
	case trimmed[0] == '[':
		var elements []json.RawMessage
		if err := json.Unmarshal([]byte(trimmed), &elements); err != nil {
			return nil, fmt.Errorf("%w: %w", errNoDocument, err)
		}
		out := make([][]byte, len(elements))
		for i, e := range elements {
			out[i] = e
		}
		return out, nil
	}
	return [][]byte{[]byte(trimmed)}, nil
}
