package functions

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// CosmosDocument is one version of a document, as JSON, with the properties that
// the service adds (_etag, _ts, _lsn and others).
type CosmosDocument json.RawMessage

// ID is the document's identifier.
func (d CosmosDocument) ID() string {
	var v struct {
		ID string `json:"id"`
	}
	_ = json.Unmarshal(d, &v) // documents of the service have one
	return v.ID
}

// Text returns the document as text.
func (d CosmosDocument) Text() string { return string(d) }

// Decode reads the document into the value that target points to.
func (d CosmosDocument) Decode(target any) error {
	if err := json.Unmarshal(d, target); err != nil {
		return fmt.Errorf("cosmos db document: %w", err)
	}
	return nil
}

// MarshalJSON returns the document.
func (d CosmosDocument) MarshalJSON() ([]byte, error) { return json.RawMessage(d).MarshalJSON() }

// UnmarshalJSON takes a copy of a document.
func (d *CosmosDocument) UnmarshalJSON(b []byte) error {
	*d = append((*d)[:0], b...)
	return nil
}

// CosmosHandler is a handler of changed documents: the latest version of each, in
// the order of their modification, of one range of a container.
type CosmosHandler func(ctx context.Context, documents []CosmosDocument) error

// CosmosDB registers a function that changes in a Cosmos DB container trigger.
// After the last failed attempt of a batch its range moves on as after a success:
// without a retry policy a failed batch is lost. Both container and lease
// container must exist, unless [CreateLeases] is given.
func (a *App) CosmosDB(name, database, container string, h CosmosHandler, opts ...CosmosOption) {
	f := a.register(name, h == nil)
	f.trigger = map[string]any{
		"type": "cosmosDBTrigger", "direction": "in", "name": "documents", "databaseName": database, "containerName": container,
	}
	f.handle = func(ctx context.Context, c *invocation) error {
		var documents []CosmosDocument
		if err := triggerInput(c.request).Decode(&documents); err != nil {
			return err
		}
		return h(ctx, documents)
	}
	for _, o := range opts {
		o.applyCosmos(f)
	}
}

// CosmosOption is an option of [App.CosmosDB].
type CosmosOption interface{ applyCosmos(*function) }

func (o anyOption) applyCosmos(f *function)        { o(f) }
func (o ConnectionOption) applyCosmos(f *function) { f.trigger["connection"] = o.setting }

type cosmosOption func(*function)

func (o cosmosOption) applyCosmos(f *function) { o(f) }

// FromBeginning starts a range that has no lease yet with its oldest change,
// instead of now.
func FromBeginning() CosmosOption {
	return cosmosOption(func(f *function) { f.trigger["startFromBeginning"] = true })
}

// MaxItems limits the number of documents in a batch, 100 without it. Documents of
// one transaction stay together.
func MaxItems(n int) CosmosOption {
	return cosmosOption(func(f *function) { f.trigger["maxItemsPerInvocation"] = n })
}

// FeedPollDelay is the wait between two looks at a range without changes, 5 s
// without it and for 0. The platform counts it in milliseconds.
func FeedPollDelay(d time.Duration) CosmosOption {
	return cosmosOption(func(f *function) { f.trigger["feedPollDelay"] = d.Milliseconds() })
}

// Leases names the container in which the function keeps its positions, "leases"
// without it, and what begins their names there: functions that watch one container
// and share a lease container need different prefixes, or they share the work.
func Leases(container, prefix string) CosmosOption {
	return cosmosOption(func(f *function) {
		f.trigger["leaseContainerName"], f.trigger["leaseContainerPrefix"] = container, prefix
	})
}

// CreateLeases makes the lease container when it does not exist.
func CreateLeases() CosmosOption {
	return cosmosOption(func(f *function) { f.trigger["createLeaseContainerIfNotExists"] = true })
}

// CosmosOutput declares an output to a Cosmos DB container: each document is created
// or replaced. Otherwise it is like [QueueOutput].
func CosmosOutput(name, database, container string, opts ...OutputOption) Option {
	b := map[string]any{"type": "cosmosDB", "direction": "out", "name": name, "databaseName": database, "containerName": container}
	for _, o := range opts {
		o.applyOutput(b)
	}
	raw := object(b)
	return anyOption(func(f *function) { f.bindings = append(f.bindings, raw) })
}
