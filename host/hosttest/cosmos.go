package hosttest

import (
	"context"
	"errors"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/cosmos"
)

// cosmosCalls are the calls of a Host about Cosmos DB.
type cosmosCalls struct{ h *Host }

// CosmosConnection is the connection string of the embedded Cosmos DB account, as
// the kit gives it to the app in AzureWebJobsCosmosDB: the same as of the official
// emulator.
const CosmosConnection = "AccountEndpoint=https://localhost:8081/;AccountKey=C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw==;"

// CreateCosmos makes a container with one range and the partition key /id in the
// embedded Cosmos DB account, unless it is there. Others are made with
// host.Host.Cosmos.
func (k cosmosCalls) CreateCosmos(database, container string) {
	k.h.tb.Helper()
	if _, err := k.h.cosmosContainer(database, container); err != nil {
		k.h.tb.Fatalf("hosttest: create container %q of database %q: %v", container, database, err)
	}
}

// WriteCosmos creates or replaces documents, one after the other, in a container
// that is made as CreateCosmos does when it does not exist. Deliveries that they
// start run before WriteCosmos returns; time does not move.
func (k cosmosCalls) WriteCosmos(database, container string, documents ...string) {
	k.h.tb.Helper()
	cosmosMeant(k.h, database, container)
	if len(documents) == 0 {
		k.h.tb.Fatalf("hosttest: write to container %q of database %q: no document is given", container, database)
	}
	c, err := k.h.cosmosContainer(database, container)
	if err == nil {
		k.h.do("write to "+database+"/"+container, func() {
			for _, text := range documents {
				if _, err = c.Upsert(context.Background(), []byte(text)); err != nil {
					return
				}
			}
		})
	}
	if err != nil {
		k.h.tb.Fatalf("hosttest: write to container %q of database %q: %v", container, database, err)
	}
}

// CosmosItems returns the documents of a container, sorted by identifier: of a lease
// container the leases.
func (k cosmosCalls) CosmosItems(database, container string) []*cosmos.Item {
	k.h.tb.Helper()
	var items []*cosmos.Item
	var err error
	k.h.do("read "+database+"/"+container, func() {
		var c cosmos.Container
		if c, err = k.h.Services().Cosmos().Container(context.Background(), database, container); err == nil {
			items, err = c.Items(context.Background(), "")
		}
	})
	if err != nil {
		cosmosMeant(k.h, database, container)
		k.h.tb.Fatalf("hosttest: read container %q of database %q: %v", container, database, err)
	}
	return items
}

func (k cosmosCalls) cosmosContainer(database, container string) (c cosmos.Container, err error) {
	k.h.do("container "+database+"/"+container, func() {
		c, err = k.h.Services().Cosmos().Container(context.Background(), database, container)
		if errors.Is(err, bindings.ErrNotFound) {
			c, err = k.h.Services().Cosmos().CreateContainer(context.Background(), cosmos.ContainerSpec{Database: database, Name: container})
		}
	})
	return c, err
}

// CosmosContainers returns the containers of Cosmos DB, each as "database/container".
func (k cosmosCalls) CosmosContainers() []string {
	k.h.tb.Helper()
	return list(k.h, "containers of Cosmos DB", func(ctx context.Context) (names []string, err error) {
		containers, err := k.h.Services().Cosmos().Containers(ctx)
		for _, c := range containers {
			names = append(names, c.Database+"/"+c.Name)
		}
		return names, err
	})
}
