package host

import (
	"context"
	"fmt"
	"net/url"

	cosmosapi "github.com/redeliver/redeliver/bindings/cosmos"
	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/emulator/cosmos"
	"github.com/redeliver/redeliver/host/listen"
)

// openCosmos makes the embedded Cosmos DB account, kept as the storage accounts
// are.
func (h *Host) openCosmos() (err error) {
	opts := &cosmos.Options{Created: h.fleet.made}
	if h.accounts.db != nil {
		h.cosmos, err = cosmos.Open(h.clk, h.accounts.db, opts)
		return err
	}
	h.cosmos = cosmos.New(h.clk, opts)
	return nil
}

// Cosmos is the embedded Cosmos DB account, which connection strings with an
// AccountEndpoint on this machine mean. It has no wire protocol.
func (h *Host) Cosmos() *cosmos.Account { return h.cosmos }

// cosmosAccount returns the account of a connection: the embedded one, there is no
// other.
func (h *Host) cosmosAccount(a *app.App, setting string) (cosmosapi.Account, error) {
	if err := checkCosmosConnection(a, setting); err != nil {
		return nil, err
	}
	return h.cosmos, nil
}

// checkCosmosConnection refuses connections that do not mean the embedded account.
func checkCosmosConnection(a *app.App, setting string) error {
	conn, ok := a.Settings.Connection(setting)
	if !ok {
		return fmt.Errorf("no setting holds the connection %q", setting)
	}
	endpoint := fields(conn)["accountendpoint"]
	if endpoint == "" {
		return fmt.Errorf("connection %q names no AccountEndpoint", conn.Setting)
	}
	if !onLoopback(endpoint) {
		return fmt.Errorf("connection %q names the Cosmos DB account %q: only the embedded change feed is offered, as AccountEndpoint=https://localhost:8081/", conn.Setting, endpoint)
	}
	return nil
}

// onLoopback reports whether an address is on this machine.
func onLoopback(endpoint string) bool {
	u, err := url.Parse(endpoint)
	return err == nil && listen.Loopback(u.Hostname())
}

// clearCosmos removes all documents but the leases of running functions, whose
// positions go on.
func (h *Host) clearCosmos() error {
	leases := map[[2]string]bool{}
	if g := h.current.Load(); g != nil {
		for _, f := range g.functions {
			if f.def.Trigger.Is("cosmosDBTrigger") {
				t := f.def.Trigger.CosmosTrigger()
				leases[[2]string{t.LeaseDatabase, t.LeaseContainer}] = true
			}
		}
	}
	return h.cosmos.Clear(context.Background(), func(database, container string) bool { return leases[[2]string{database, container}] })
}
