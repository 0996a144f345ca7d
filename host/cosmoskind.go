package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/cosmos"
	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/host/services"
	"github.com/redeliver/redeliver/schemas"
	"github.com/redeliver/redeliver/triggers"
	"github.com/redeliver/redeliver/triggers/cosmosdb"
)

// cosmosPlaces are the containers of a trigger: of the documents, and of the leases.
func (f *function) cosmosPlaces() (monitored, leases cosmosdb.Place, err error) {
	t, h := f.def.Trigger.CosmosTrigger(), f.gen.host
	monitored = cosmosdb.Place{Database: t.Database, Container: t.Container}
	leases = cosmosdb.Place{Database: t.LeaseDatabase, Container: t.LeaseContainer}
	if monitored.Account, err = h.connections.Cosmos(f.gen.app.Settings, t.Connection); err != nil {
		return monitored, leases, err
	}
	leases.Account, err = h.connections.Cosmos(f.gen.app.Settings, t.LeaseConnection)
	return monitored, leases, err
}

func connectCosmos(f *function) error {
	_, _, err := f.cosmosPlaces()
	return err
}

func listenCosmos(turn *turn) (triggers.Listener, error) {
	f, h := turn.function, turn.gen.host
	monitored, leases, err := f.cosmosPlaces()
	if err != nil {
		return nil, err
	}
	monitored.Account, leases.Account = turn.cosmos(monitored.Account), turn.cosmos(leases.Account)
	t := f.def.Trigger.CosmosTrigger()
	return cosmosdb.New(h.clk, monitored, leases, &cosmosdb.Options{
		// Another function of this host is another owner, else two that have one
		// prefix would take each other's leases for their own. The listener of the next
		// generation is the same owner: it runs when this one has ended.
		Owner:                cosmosOwner(h, f.def.Name),
		LeasePrefix:          t.LeasePrefix,
		CreateLeaseContainer: t.CreateLeaseContainer,
		FeedPollDelay:        t.FeedPollDelay,
		AcquireInterval:      t.AcquireInterval,
		Expiration:           t.Expiration,
		RenewInterval:        t.RenewInterval,
		MaxItems:             t.MaxItems,
		StartFromBeginning:   t.StartFromBeginning,
		StartTime:            t.StartTime,
		WakeUp:               f.gen.app.Switches.WakeUp == "fast",
		Written: func(lease, continuation string) {
			h.journal.Append(journal.Record{
				Kind: journal.CheckpointWritten, Generation: f.gen.id, Function: f.def.Name, Trigger: f.def.Kind.Type, Source: monitored.String(),
				Fields: []journal.Field{{Key: "lease", Value: lease}, {Key: "continuation", Value: continuation}},
			})
		},
		Notify: func(lease string, err error) {
			h.journal.Append(journal.Record{
				Kind: journal.FunctionError, Generation: f.gen.id, Function: f.def.Name, Trigger: f.def.Kind.Type,
				Source: lease, Message: "a range cannot be read and will be tried again", Error: err.Error(),
			})
		},
	}), nil
}

// cosmosOwner is the name of a function's listener in leases.
func cosmosOwner(h *Host, function string) string { return h.opts.Instance + "/" + function }

// validateCosmos checks what the schema cannot. Connections that exist but mean
// another account are faults too, of the property that names them.
func validateCosmos(a *app.App, f *app.Function) []*schemas.Fault {
	faults := f.Trigger.CosmosFaults()
	t := f.Trigger.CosmosTrigger()
	check := func(property, setting string) {
		if err := services.CheckCosmos(a.Settings, setting); err != nil {
			faults = append(faults, &schemas.Fault{
				Path: f.Trigger.PathOf(property), Found: setting, Reason: err.Error(), Kind: schemas.KindInvalidOperation,
				Allowed: "the name of a setting that means the embedded account",
			})
		}
	}
	check("connection", t.Connection)
	if t.LeaseConnection != t.Connection {
		check("leaseConnection", t.LeaseConnection)
	}
	return faults
}

func cosmosMessage(_ *Host, _ *function, input string) (triggers.Message, error) {
	if !json.Valid([]byte(input)) {
		return triggers.Message{}, errors.New("a Cosmos DB function is called with a JSON array of documents")
	}
	return cosmosdb.Message([]byte(input)), nil
}

func cosmosEnd(*app.App, *app.Function) string { return "lost: the range moves on" }

// cosmosOutput creates or replaces documents.
type cosmosOutput struct {
	b                   *app.Binding
	account             cosmos.Account
	database, container *bindings.Template
	key                 string // of a container that is made; empty: none is
}

func newCosmosOutput(f *function, b *app.Binding) (output, error) {
	setting := b.Connection
	if setting == "" {
		setting = "CosmosDB"
	}
	account, err := f.gen.host.connections.Cosmos(f.gen.app.Settings, setting)
	if err != nil {
		return nil, err
	}
	o := &cosmosOutput{b: b, account: account}
	if o.database, err = bindings.ParseTemplate(b.String("databaseName")); err != nil {
		return nil, err
	}
	if o.container, err = bindings.ParseTemplate(b.String("containerName")); err != nil {
		return nil, err
	}
	if isTrue(b.Value("createIfNotExists"), false) {
		if o.key = b.String("partitionKey"); o.key == "" {
			o.key = "/id"
		}
	}
	return o, nil
}

func (o *cosmosOutput) binding() *app.Binding { return o.b }

// write creates or replaces one document for each element of the value, one after
// the other: those before a failure are stored.
//
// Source: CDB: Bindings/CosmosDBAsyncCollector.cs.
func (o *cosmosOutput) write(ctx context.Context, d *delivery, v bindings.Value) error {
	database, err := o.database.Resolve(d.bindingData())
	if err != nil {
		return err
	}
	name, err := o.container.Resolve(d.bindingData())
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
