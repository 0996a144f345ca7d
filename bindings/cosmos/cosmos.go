// Package cosmos is the contract of a Cosmos DB account as far as its trigger and its
// bindings need it: items in containers, their ranges, and the change feed.
//
// Read [Account] first.
package cosmos

import (
	"context"
	"encoding/json"
	"time"
)

// Account is one Cosmos DB account, as the change feed trigger and the output
// binding see it: containers of JSON documents, each container split into ranges
// of its partition key, and a feed of changes for each range.
//
// Databases and containers are named exactly as they were made; case counts. All
// methods may be called concurrently. Errors are the errors of this package,
// wrapped; a context's error passes unchanged; all others are failures of the
// transport.
//
// Reference: spec messaging 7; docs, Change feed in Azure Cosmos DB.
type Account interface {
	// AccountHost is the host of the account's endpoint, which names the account
	// in lease documents: "contoso.documents.azure.com".
	AccountHost() string

	// Container returns a container, bindings.ErrNotFound when it or its database does not
	// exist.
	Container(ctx context.Context, database, container string) (Container, error)

	// CreateContainer makes a container, and its database when that does not
	// exist. It fails with bindings.ErrAlreadyExists, bindings.ErrInvalidName and
	// bindings.ErrInvalidArgument.
	CreateContainer(ctx context.Context, spec ContainerSpec) (Container, error)
}

// ContainerSpec describes a container to be made.
type ContainerSpec struct {
	Database, Name string

	// PartitionKey is the path of the property that assigns a document to a
	// range, as in "/customer/id". Empty: "/id".
	PartitionKey string

	// Ranges is the number of physical partitions, each with a feed of its own.
	// A service decides that itself from throughput and size. Zero: 1.
	Ranges int
}

// MaxRanges is the largest number of ranges of a container that the
// embedded account makes.
const MaxRanges = 256

// MaxItem is the largest document that the service takes, and the largest
// sum of the documents of one transaction, in bytes.
//
// Source: docs, Azure Cosmos DB service quotas.
const MaxItem = 2 << 20

// MaxTransaction is the largest number of documents in one transaction.
const MaxTransaction = 100

// ContainerInfo is what a container says of itself.
type ContainerInfo struct {
	ContainerSpec

	// DatabaseRID and RID are the service's own names of database and container.
	// A container that is made again under its name has another one.
	DatabaseRID, RID string
}

// Range is one physical partition of a container: the documents whose
// partition key has a hash from Min up to and without Max. Hashes are in
// hexadecimal; "" is the first one, "FF" lies behind the last.
type Range struct {
	ID       string
	Min, Max string
}

// Item is one version of a document. Body is the JSON object with the
// service's own properties: _rid, _self, _etag, _attachments and _ts, in a feed
// also _lsn. It never changes.
type Item struct {
	ID       string
	Key      Key
	ETag     string // with its quotes
	Modified time.Time
	Body     json.RawMessage
}

// Key is the value of a partition key as JSON text: `"7"`, `7`, `true`,
// `null`; empty for documents without it. One identifier may exist once for each
// value.
type Key string

// KeyText is the key of a text.
func KeyText(s string) Key {
	b, err := json.Marshal(s)
	if err != nil { // a string always marshals
		panic(err)
	}
	return Key(b)
}

// Container is one container. A container that was deleted meanwhile fails
// every call with bindings.ErrNotFound, also when another one has its name.
//
// A document is a JSON object with a text property "id" of 1 to 255 characters
// without / \ ? #. Properties that the service owns are ignored in what is
// written. Bad documents are bindings.ErrInvalidArgument, too large ones bindings.ErrTooLarge. An
// ifMatch that is not empty must be the document's present ETag; otherwise the
// error is bindings.ErrConditionNotMet and nothing has changed.
type Container interface {
	Feed

	// Create adds a document, bindings.ErrAlreadyExists if its identifier exists in its
	// logical partition.
	Create(ctx context.Context, document []byte) (*Item, error)

	// Upsert creates or replaces documents, all of them or none. Several documents
	// are a transaction: they must have the same partition key, be at most
	// MaxTransaction, and stay together in the feed.
	Upsert(ctx context.Context, documents ...[]byte) ([]*Item, error)

	// Replace writes a document over the one with its identifier, bindings.ErrNotFound if
	// there is none.
	Replace(ctx context.Context, document []byte, ifMatch string) (*Item, error)

	// Delete removes a document, bindings.ErrNotFound if there is none. The feed does not
	// show it.
	Delete(ctx context.Context, id string, key Key, ifMatch string) error

	// Read returns a document, bindings.ErrNotFound if there is none.
	Read(ctx context.Context, id string, key Key) (*Item, error)

	// Items lists the documents whose identifier begins with prefix, sorted by
	// identifier, then by key.
	Items(ctx context.Context, prefix string) ([]*Item, error)
}

// Feed is the change feed of a container.
type Feed interface {
	// Info is known when the container is: no I/O.
	Info() ContainerInfo

	// Ranges lists the ranges in order.
	Ranges(ctx context.Context) ([]Range, error)

	// Changes returns what has changed in a range since a position: the latest
	// version of each document, in order of modification, at most limit of them
	// (zero: 100) except that documents of one transaction stay together. With
	// nothing new it returns no items; the continuation is never empty.
	Changes(ctx context.Context, rangeID string, from Position, limit int) (Changes, error)
}

// DefaultPage is the number of changes returned at once when nothing else
// is said (the service's default).
const DefaultPage = 100

// Position is where to read a feed from. The zero value is the beginning.
type Position struct {
	// Continuation comes from an earlier read, or from a lease: a quoted etag. It
	// wins over the others.
	Continuation string
	// Now starts behind the last change.
	Now bool
	// Time, if it is not zero, starts with the first change at or after it.
	Time time.Time
}

// Changes is a page of a feed.
type Changes struct {
	Items        []*Item
	Continuation string // where to read on
}

// Watcher is implemented by containers of which changes are to be had
// without polling.
type Watcher interface {
	// Watch calls changed after each change in the range, until stop is called.
	// It is called without locks held and must not block.
	Watch(rangeID string, changed func()) (stop func())
}
