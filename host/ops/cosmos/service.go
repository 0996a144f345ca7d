// Package cosmos has the operations on the embedded Cosmos DB account.
package cosmos

import (
	"context"

	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/ops"
)

// Service is Cosmos DB.
var Service = &ops.Service{ // read only
	Name: "cosmos", Path: "cosmos", Noun: "container", Scene: ops.Scene{Entity: "cosmos", Kind: "Cosmos DB container", Held: "cosmos", Documents: true}, Refuse: refusal,
	List: func(ctx context.Context, e *ops.Env) (any, error) { return containers(ctx, e) },
	Listings: []ops.Listing{{
		Name: "cosmos", Columns: []string{"COSMOS CONTAINER", "LEASES", "OWNER", "RANGE", "DOCUMENTS", "CONTINUATION", "PENDING"}, Numbers: 4, Quiet: true,
		Rows: ops.Rows(rows), Names: ops.Names(func(c *CosmosContainer) []string { return []string{c.Path} }),
	}},
	Entities: names, Bound: bound, Each: each, Faults: operations,
}

// Operations are those of this package.
func Operations() []ops.Deed {
	return []ops.Deed{
		ops.Of(ListContainers{}), ops.Of(CreateContainer{}), ops.Of(DeleteContainer{}),
		ops.Of(WriteDocuments{}), ops.Of(ReadDocuments{}), ops.Of(PurgeDocuments{}),
	}
}

func names(ctx context.Context, e *ops.Env) (names []string, err error) {
	list, err := containers(ctx, e)
	for i := range list {
		names = append(names, list[i].Path)
	}
	return names, err
}

var bound = map[string]func(*app.Binding) []string{"cosmosDB": boundContainers, "cosmosDBTrigger": boundContainers} // read only

func boundContainers(b *app.Binding) []string {
	database := b.String("databaseName") + "/"
	return []string{database + b.String("containerName"), database + b.String("collectionName"), database + b.String("leaseContainerName"), database + "leases"}
}
