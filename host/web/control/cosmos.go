package control

import (
	"encoding/json"
	"time"
)

// ListContainers lists the containers of Cosmos DB.
type ListContainers struct {
	Op[CosmosContainers] `route:"GET /cosmos"`
}

// CosmosContainers are the containers of the embedded Cosmos DB account.
type CosmosContainers struct {
	Cosmos []CosmosContainer `json:"cosmos"`
}

// CosmosContainer is a container of the embedded Cosmos DB account.
type CosmosContainer struct {
	Path         string         `json:"path"` // "shop/orders"
	PartitionKey string         `json:"partitionKey"`
	Documents    int            `json:"documents"`
	Ranges       []CosmosRange  `json:"ranges"`
	Leases       []CosmosLeases `json:"leases,omitempty"` // of functions that watch the container
}

// CosmosRange is a range of a container.
type CosmosRange struct {
	ID        string `json:"id"`
	Documents int    `json:"documents"`
}

// CosmosLeases is how far functions that share their leases have read a container.
type CosmosLeases struct {
	Container string        `json:"container"` // of the leases: "shop/leases"
	Prefix    string        `json:"prefix,omitempty"`
	Functions []string      `json:"functions"`
	Ranges    []CosmosLease `json:"ranges"`
	Error     string        `json:"error,omitempty"` // why there are none
}

// CosmosLease is the lease of one range.
type CosmosLease struct {
	Range        string     `json:"range"`
	Owner        string     `json:"owner,omitempty"`    // as the lease has it
	Function     string     `json:"function,omitempty"` // that the owner is, if it is one of this host
	Continuation string     `json:"continuation,omitempty"`
	Changed      *time.Time `json:"changed,omitempty"`
	Pending      *int       `json:"pending"`         // changes after the continuation; null: not known
	Error        string     `json:"error,omitempty"` // why the lease cannot be used
}

// CreateContainer makes a container of Cosmos DB, and its database; 409 when it is
// there.
type CreateContainer struct {
	Op[CosmosContainer] `route:"PUT /cosmos/container" status:"201"`
	NewContainer
}

// NewContainer names a container, and says how it is made.
type NewContainer struct {
	Container    string `query:"container,required"`                                          // "shop/orders"
	PartitionKey string `query:"partitionKey"`                                                // "/id" unless it is there
	Ranges       int    `query:"ranges" min:"1" fault:"ranges must be a number of 1 or more"` // 1 unless it is there
}

// DeleteContainer removes a container with its documents and feeds.
type DeleteContainer struct {
	Op[None] `route:"DELETE /cosmos/container" status:"204"`

	Container string `query:"container,required"`
}

// WriteDocuments creates or replaces the document in the body, or those in an array, one
// after the other. The container is made when it is missing.
type WriteDocuments struct {
	Op[CosmosWritten] `route:"POST /cosmos/documents" status:"201" limit:"67108864"`
	NewContainer
	Body []byte `body:"raw"`
}

// CosmosWritten says what was created or replaced.
type CosmosWritten struct {
	Path    string   `json:"path"`
	Created bool     `json:"created,omitempty"` // the container, which was missing
	IDs     []string `json:"ids"`
	ETags   []string `json:"etags"`
}

// ReadDocuments shows documents of a container.
type ReadDocuments struct {
	Op[CosmosDocuments] `route:"GET /cosmos/documents"`

	Container string `query:"container,required"`
	ID        string `query:"id"`
	Prefix    string `query:"prefix"` // how their identifiers begin
	Max       int    `query:"max" min:"1" fault:"max must be a number of 1 or more"`
}

// CosmosDocuments are documents of a container, sorted by identifier: of a lease
// container, the checkpoints of functions.
type CosmosDocuments struct {
	Path      string            `json:"path"`
	Count     int               `json:"count"` // that were asked for
	Documents []json.RawMessage `json:"documents"`
}

// PurgeDocuments removes the documents with an identifier, with any partition key,
// or without one all of the container.
type PurgeDocuments struct {
	Op[Purged] `route:"DELETE /cosmos/documents"`

	Container string  `query:"container,required"`
	ID        *string `query:"id"`
}
