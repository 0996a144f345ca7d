package control

import (
	"encoding/json"

	"github.com/redeliver/redeliver/host/emulator/cosmos"
	"github.com/redeliver/redeliver/host/kinds/cosmosdb"
	"github.com/redeliver/redeliver/host/web/api"
)

// ListContainers lists the containers of Cosmos DB.
type ListContainers struct {
	api.Op[CosmosContainers] `route:"GET /cosmos"`
}

// CosmosContainers are the containers of the embedded Cosmos DB account.
type CosmosContainers struct {
	Cosmos []CosmosContainer `json:"cosmos"`
}

// CosmosContainer is a container of the embedded Cosmos DB account.
type CosmosContainer struct {
	Path         string               `json:"path"` // "shop/orders"
	PartitionKey string               `json:"partitionKey"`
	Documents    int                  `json:"documents"`
	Ranges       []cosmos.RangeStatus `json:"ranges"`
	Leases       []cosmosdb.Leases    `json:"leases,omitempty"` // of functions that watch the container
}

// CreateContainer makes a container of Cosmos DB, and its database; 409 when it is
// there.
type CreateContainer struct {
	api.Op[CosmosContainer] `route:"PUT /cosmos/container" status:"201"`
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
	api.Op[api.None] `route:"DELETE /cosmos/container" status:"204"`

	Container string `query:"container,required"`
}

// WriteDocuments creates or replaces the document in the body, or those in an array, one
// after the other. The container is made when it is missing.
type WriteDocuments struct {
	api.Op[CosmosWritten] `route:"POST /cosmos/documents" status:"201" limit:"67108864"`
	NewContainer
	Create bool   `query:"create"` // make the container though its name is near to another one
	Body   []byte `body:"raw"`
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
	api.Op[CosmosDocuments] `route:"GET /cosmos/documents"`

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
	api.Op[Purged] `route:"DELETE /cosmos/documents"`

	Container string  `query:"container,required"`
	ID        *string `query:"id"`
}
