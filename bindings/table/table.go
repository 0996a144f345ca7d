// Package table is the contract of Table storage: tables of entities, each with two keys
// and typed properties; writes one by one and in transactions; queries a page at a time;
// and the JSON in which entities travel.
//
// Read [Account] first, then [Table]; value.go has the types of properties, json.go their
// form on the wire.
package table

import (
	"context"
	"time"

	"github.com/redeliver/redeliver/bindings/storage"
)

// Limits of the service (spec tables 3.1, 4.4, 5.3). Lengths of texts are in UTF-16 units.
const (
	MaxKey         = 512      // a partition or row key
	MaxName        = 255      // the name of a property
	MaxProperties  = 252      // beside the keys and Timestamp
	MaxText        = 32 << 10 // a property of type Edm.String
	MaxBinary      = 64 << 10 // bytes of a property of type Edm.Binary
	MaxEntity      = 1 << 20  // bytes, counted as Size does
	MaxTransaction = 100      // writes
	MaxPayload     = 4 << 20  // bytes of one entity's JSON, or of a whole transaction
	MaxPage        = 1000     // entities or tables in a page
)

// Tick is the finest time that the service knows.
const Tick = 100 * time.Nanosecond

// Account is the Table service of one storage account.
//
// All methods may be called concurrently. Table does no I/O and does not fail: names are
// checked by the calls on the table.
//
// Every failure that the service itself reports is a *storage.Error, here and in Table:
// callers decide with errors.Is and the conditions of package bindings, or by its Code.
// Other errors are of the transport or the context's.
type Account interface {
	// Table returns a handle on the table of that name, existing or not. The case of
	// letters does not matter.
	Table(name string) Table

	// Tables lists the names of tables as they were made, ordered without regard to case.
	// Of the query Filter (on TableName), Top and From (Partition is the name in lower
	// case) count. A nil query lists the first page.
	Tables(ctx context.Context, q *Query) (*TablePage, error)
}

// Admin is the part of a Table service that only a server needs. Accounts that can be
// served implement it beside Account.
type Admin interface {
	// TablePolicies returns the table's stored access policies in the order in which they
	// were set.
	TablePolicies(ctx context.Context, name string) ([]storage.AccessPolicy, error)

	// SetTablePolicies replaces them; bindings.ErrOutOfRange for more than
	// storage.MaxAccessPolicies.
	SetTablePolicies(ctx context.Context, name string, policies []storage.AccessPolicy) error

	// TableServiceProperties returns the settings of the account's Table service.
	TableServiceProperties(ctx context.Context) (storage.ServiceProperties, error)

	// SetTableServiceProperties replaces those settings that p names; a nil field leaves
	// its setting as it is.
	SetTableServiceProperties(ctx context.Context, p storage.ServiceProperties) error
}

// Table is one table. All methods may be called concurrently. A call on a table that
// does not exist fails with CodeTableNotFound, for which bindings.ErrNotFound
// holds.
type Table interface {
	Entities

	// Name is the table's name as the handle was asked for.
	Name() string

	// Create makes the table; CodeTableAlreadyExists when there is one.
	Create(ctx context.Context) error

	// DeleteTable removes the table with all its entities; CodeResourceNotFound
	// when there is none. The name is free at once (T-18).
	DeleteTable(ctx context.Context) error
}

// Entities are the entities of a table. Errors are described at [Table].
type Entities interface {
	// Get returns one entity, or fails with CodeResourceNotFound.
	Get(ctx context.Context, partition, row string) (*Entity, error)

	// Query returns the next page of the entities that q asks for, by partition and row.
	// A nil query asks for all.
	Query(ctx context.Context, q *Query) (*Page, error)

	// Write does one write and returns the entity's new Timestamp.
	Write(ctx context.Context, w Write) (time.Time, error)

	// Submit does up to MaxTransaction writes to one partition, each to another row: all
	// of them or, when one fails, none. Nobody sees a part. All entities have the same new
	// Timestamp, which it returns. The error of a write is a *WriteError.
	Submit(ctx context.Context, writes []Write) (time.Time, error)
}

// Entity is one row. It is a copy: changing it changes nothing in the service.
type Entity struct {
	PartitionKey, RowKey string
	Timestamp            time.Time  // of the last write, in ticks; zero in one that is to be written
	Properties           []Property // in the order in which they are stored
}

// Property is a named value.
type Property struct {
	Name  string
	Value Value
}

// Value returns the value of a property, or nil.
func (e *Entity) Value(name string) Value {
	for _, p := range e.Properties {
		if p.Name == name {
			return p.Value
		}
	}
	return nil
}

// Mode is what a write does.
type Mode int

// The modes. Of those that need an entity, and those that need none to be there: see
// Write.Match.
const (
	Insert  Mode = iota // there must be none
	Replace             // the entity has these properties and no others
	Merge               // properties that are not named stay
	Delete              // the entity is removed; only its keys count
)

// String is the name of the operation, as faults spell it (spec tables 10.5).
func (m Mode) String() string {
	return [...]string{"Insert", "Update", "Merge", "Delete"}[m]
}

// Write is one write of an entity. Timestamp is ignored.
type Write struct {
	Mode   Mode
	Entity Entity

	// Match is the condition of Replace, Merge and Delete: AnyETag wants an entity to be
	// there, an ETag wants this state of it (CodeUpdateConditionNotSatisfied).
	// Empty asks for nothing, so that Replace and Merge make what is missing; Delete needs
	// a condition.
	Match string
}

// AnyETag is a Write's Match for an entity in whatever state.
const AnyETag = "*"

// Query says which entities, and how many of them. The zero value asks for the first
// MaxPage of all.
type Query struct {
	Filter string // OData's $filter; empty: all
	Top    int    // entities in a page: 1 to MaxPage; 0: MaxPage
	From   *Key   // where the page begins, a Page's Next; nil: at the beginning
	Within Range  // beside the filter
}

// Key is the place of an entity in the order of a table: by partition, then by row,
// both by UTF-16 units.
type Key struct{ Partition, Row string }

// Compare orders keys.
func (k Key) Compare(o Key) int {
	if c := CompareText(k.Partition, o.Partition); c != 0 {
		return c
	}
	return CompareText(k.Row, o.Row)
}

// Range is a part of a table, bounds included; nil is an open end. Without a row a bound
// means its whole partition.
type Range struct {
	StartPartition, StartRow, EndPartition, EndRow *string
}

// Holds reports whether a key is inside.
func (r Range) Holds(k Key) bool {
	return side(k, r.StartPartition, r.StartRow, 1) && side(k, r.EndPartition, r.EndRow, -1)
}

// side reports whether k is not on the wrong side of a bound: sign is that of the right one.
func side(k Key, partition, row *string, sign int) bool {
	if partition == nil {
		return true
	}
	c := sign * CompareText(k.Partition, *partition)
	return c > 0 || c == 0 && (row == nil || sign*CompareText(k.Row, *row) >= 0)
}

// Page is one answer of a query.
type Page struct {
	Entities []Entity
	Next     *Key // of the first entity that was not looked at; nil at the end

	// Mixed says that the filter compared numbers of different types, for a warning;
	// empty otherwise (T-8).
	Mixed string
}

// TablePage is one answer of a listing of tables.
type TablePage struct {
	Names []string
	Next  string // in lower case; empty at the end
}

// WriteError is the failure of one write of a transaction.
type WriteError struct {
	Index int // of the write, from 0
	Err   error
}

func (e *WriteError) Error() string { return e.Err.Error() }

func (e *WriteError) Unwrap() error { return e.Err }
