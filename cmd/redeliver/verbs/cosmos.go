package verbs

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/redeliver/redeliver/cmd/redeliver/cli"
	"github.com/redeliver/redeliver/host/ops"
	"github.com/redeliver/redeliver/host/ops/cosmos"
)

// SendCosmos writes documents to a container.
var SendCosmos = Verb[cosmos.WriteDocuments, cosmos.CosmosWritten]{ // read only
	Use: "cosmos DATABASE/CONTAINER [JSON|FILE|-]", Short: "Create or replace documents in a Cosmos DB container",
	Long: `Send creates or replaces documents in the Cosmos DB account of the running host,
and makes database and container when they do not exist. FILE holds one JSON
object with an "id", or an array of such objects. The JSON itself may stand in
the place of FILE; "-" and no FILE mean the standard input. Functions that watch
the container find the changes in its feed.

The account is there for the change feed only. No Cosmos DB client can connect
to it.`,
	Example: `  redeliver send cosmos shop/orders order.json
  echo '{"id":"7","customer":"a"}' | redeliver send cosmos shop/orders --partition-key /customer`,
	Names: NamesOf(cosmos.Service), Body: document, Text: wroteDocuments,
	Check: func(in *cosmos.WriteDocuments) error { return cosmosPath(in.Container) },
}

func wroteDocuments(_ *cosmos.WriteDocuments, written *cosmos.CosmosWritten) string {
	where := "to"
	if written.Created {
		where = "to the new"
	}
	return cli.Textf("wrote %s %s container %q\n", cli.Plural(len(written.IDs), "document"), where, written.Path)
}

// CreateCosmos makes a container.
var CreateCosmos = Verb[cosmos.CreateContainer, cosmos.CosmosContainer]{ // read only
	Use: "cosmos DATABASE/CONTAINER", Short: "Make a Cosmos DB container",
	Long: `Create makes a container, and its database, in the Cosmos DB account of the
running host. Each of its ranges has a change feed and a lease of its own. So as
many batches as ranges can be in work at once.`,
	Example: `  redeliver create cosmos shop/orders
  redeliver create cosmos shop/orders --partition-key /customer --ranges 4`,
	Words: []Word{
		{Field: "PartitionKey", Usage: "partition key of the container, e.g. /customer (default /id)"}, {Field: "Ranges", Usage: "number of ranges of the container (default 1)"},
	},
	Check: func(in *cosmos.CreateContainer) error { return cosmosPath(in.Container) },
	Text: func(_ *cosmos.CreateContainer, made *cosmos.CosmosContainer) string {
		return cli.Textf("created container %q (partition key %s, %s)\n", made.Path, made.PartitionKey, cli.Plural(len(made.Ranges), "range"))
	},
}

// DeleteCosmos removes a container.
var DeleteCosmos = Verb[cosmos.DeleteContainer, ops.None]{ // read only
	Use: "cosmos DATABASE/CONTAINER", Short: "Remove a Cosmos DB container with its documents",
	Long: `Delete removes a container with its documents and its change feed from the
Cosmos DB account of the running host. Functions that watch it, or keep their
leases in it, fail to listen until there is one again. A container that is made
again is another one, and is read from the start that the trigger sets.`,
	Example: `  redeliver delete cosmos shop/orders`,
	Names:   NamesOf(cosmos.Service),
	Check:   func(in *cosmos.DeleteContainer) error { return cosmosPath(in.Container) },
	Text: func(in *cosmos.DeleteContainer, _ *ops.None) string {
		return cli.Textf("deleted container %q\n", in.Container)
	},
}

// PeekCosmos shows documents of a container.
var PeekCosmos = Verb[cosmos.ReadDocuments, cosmos.CosmosDocuments]{ // read only
	Use: "cosmos DATABASE/CONTAINER", Short: "Show documents of a Cosmos DB container",
	Long: `Peek shows documents of a container of the running host by their identifiers,
each on a line as it is stored, with the properties that the service adds. The
documents of a lease container say how far functions have come.`,
	Example: `  redeliver peek cosmos shop/orders
  redeliver peek cosmos shop/orders --id 7
  redeliver peek cosmos shop/leases`,
	Names: NamesOf(cosmos.Service), Text: documents,
	Check: func(in *cosmos.ReadDocuments) error {
		if in.ID != "" && in.Prefix != "" {
			return cli.Misused(errors.New("--id and --prefix exclude each other"))
		}
		return cosmosPath(in.Container)
	},
}

func documents(_ *cosmos.ReadDocuments, found *cosmos.CosmosDocuments) string {
	var b strings.Builder
	cli.Writef(&b, "container %q: %s", found.Path, cli.Plural(found.Count, "document"))
	if hidden := found.Count - len(found.Documents); hidden > 0 {
		cli.Writef(&b, ", %d not shown (beyond --max)", hidden)
	}
	b.WriteByte('\n')
	for _, d := range found.Documents {
		cli.Writef(&b, "%s\n", d)
	}
	return b.String()
}

// PurgeCosmos removes documents of a container.
var PurgeCosmos = Verb[cosmos.PurgeDocuments, ops.Purged]{ // read only
	Use: "cosmos DATABASE/CONTAINER", Short: "Remove the documents of a Cosmos DB container",
	Long: `Purge removes the documents of a container of the running host, or only the
documents that --id names. The container stays, and so do the positions of its
change feed, which does not show that documents were removed.

After a purge of their lease container functions start anew, at the start that
their triggers set. Batches in work are not checkpointed.`,
	Example: `  redeliver purge cosmos shop/orders
  redeliver purge cosmos shop/orders --id 7
  redeliver purge cosmos shop/leases`,
	Names: NamesOf(cosmos.Service),
	Check: func(in *cosmos.PurgeDocuments) error { return cosmosPath(in.Container) },
	Text: func(_ *cosmos.PurgeDocuments, out *ops.Purged) string {
		return cli.Textf("removed %s from container %q\n", cli.Plural(out.Removed, "document"), out.Path)
	},
}

// redriveCosmos explains that there is nothing to redrive, and names the
// alternatives.
func redriveCosmos(cli.Streams) *cobra.Command {
	return &cobra.Command{
		Use:                "cosmos",
		Hidden:             true,
		DisableFlagParsing: true,
		RunE: func(*cobra.Command, []string) error {
			return cli.Hinted(cli.Misused(errors.New("there is nothing to redrive: Cosmos DB has no poison messages and no dead letters; a failed batch is lost when its range moves on")),
				`write its documents again (redeliver send cosmos), or purge the lease container to have all of the feed read again`)
		},
	}
}

// cosmosPath checks the name of a container.
func cosmosPath(container string) error {
	database, name, ok := strings.Cut(container, "/")
	if !ok || database == "" || name == "" || strings.Contains(name, "/") {
		return cli.Hinted(cli.Misused(fmt.Errorf("%q names no container", container)), "a container is named DATABASE/CONTAINER, for instance shop/orders")
	}
	return nil
}

// document reads JSON as it stands there, a file, or the standard input.
func document(std cli.Streams, args []string) ([]byte, error) {
	if len(args) == 0 {
		args = []string{"-"}
	}
	return jsonOrFile(std, args)
}
