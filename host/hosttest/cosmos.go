package hosttest

import (
	"context"
	"errors"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/cosmos"
)

// CosmosConnection is the connection string of the embedded Cosmos DB account, as
// the kit gives it to the app in AzureWebJobsCosmosDB: the same as of the official
// emulator.
const CosmosConnection = "AccountEndpoint=https://localhost:8081/;AccountKey=C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw==;"

// CreateCosmos makes a container with one range and the partition key /id in the
// embedded Cosmos DB account, unless it is there. Others are made with
// host.Host.Cosmos.
func (h *Host) CreateCosmos(database, container string) {
	h.tb.Helper()
	if _, err := h.cosmosContainer(database, container); err != nil {
		h.tb.Fatalf("hosttest: create container %q of database %q: %v", container, database, err)
	}
}

// WriteCosmos creates or replaces documents, one after the other, in a container
// that is made as CreateCosmos does when it does not exist. Deliveries that they
// start run before WriteCosmos returns; time does not move.
func (h *Host) WriteCosmos(database, container string, documents ...string) {
	h.tb.Helper()
	cosmosMeant(h, database, container)
	if len(documents) == 0 {
		h.tb.Fatalf("hosttest: write to container %q of database %q: no document is given", container, database)
	}
	c, err := h.cosmosContainer(database, container)
	if err == nil {
		h.do("write to "+database+"/"+container, func() {
			for _, text := range documents {
				if _, err = c.Upsert(context.Background(), []byte(text)); err != nil {
					return
				}
			}
		})
	}
	if err != nil {
		h.tb.Fatalf("hosttest: write to container %q of database %q: %v", container, database, err)
	}
}

// CosmosItems returns the documents of a container, sorted by identifier: of a lease
// container the leases.
func (h *Host) CosmosItems(database, container string) []*cosmos.Item {
	h.tb.Helper()
	var items []*cosmos.Item
	var err error
	h.do("read "+database+"/"+container, func() {
		var c cosmos.Container
		if c, err = h.Services().Cosmos().Container(context.Background(), database, container); err == nil {
			items, err = c.Items(context.Background(), "")
		}
	})
	if err != nil {
		cosmosMeant(h, database, container)
		h.tb.Fatalf("hosttest: read container %q of database %q: %v", container, database, err)
	}
	return items
}

func (h *Host) cosmosContainer(database, container string) (c cosmos.Container, err error) {
	h.do("container "+database+"/"+container, func() {
		c, err = h.Services().Cosmos().Container(context.Background(), database, container)
		if errors.Is(err, bindings.ErrNotFound) {
			c, err = h.Services().Cosmos().CreateContainer(context.Background(), cosmos.ContainerSpec{Database: database, Name: container})
		}
	})
	return c, err
}
