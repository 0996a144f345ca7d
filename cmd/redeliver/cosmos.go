package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/redeliver/redeliver/cmd/redeliver/cli"
	"github.com/redeliver/redeliver/cmd/redeliver/remote"
	"github.com/redeliver/redeliver/host/kinds/cosmosdb"
	"github.com/redeliver/redeliver/host/ops"
	"github.com/redeliver/redeliver/host/ops/cosmos"
	"github.com/redeliver/redeliver/host/ops/run"
)

// addContainer adds the flags that say how a container is made.
func addContainer(cmd *cobra.Command, c *cosmos.NewContainer, of string) {
	cmd.Flags().StringVar(&c.PartitionKey, "partition-key", "", "partition key of "+of+", e.g. /customer (default /id)")
	cmd.Flags().IntVar(&c.Ranges, "ranges", 0, "number of ranges of "+of+" (default 1)")
}

// nameContainer names the container, and checks how it is made.
func nameContainer(cmd *cobra.Command, c *cosmos.NewContainer, name string) error {
	c.Container = name
	if err := cosmosPath(name); err != nil {
		return err
	}
	if cmd.Flags().Changed("ranges") && c.Ranges < 1 {
		return cli.Misused(errors.New("--ranges: want a number of 1 or more"))
	}
	return nil
}

// cosmosPath checks the name of a container.
func cosmosPath(container string) error {
	database, name, ok := strings.Cut(container, "/")
	if !ok || database == "" || name == "" || strings.Contains(name, "/") {
		return cli.Hinted(cli.Misused(fmt.Errorf("%q names no container", container)), "a container is named DATABASE/CONTAINER, for instance shop/orders")
	}
	return nil
}

// completeCosmos completes the first argument with containers of the running host.
func completeCosmos(t *remote.Target, then cobra.ShellCompDirective) remote.Completion {
	return remote.CompleteFirst(t, then, cosmosNames)
}

func newSendCosmos(std cli.Streams) *cobra.Command {
	r := &remote.Remote{Std: std}
	var in cosmos.WriteDocuments
	cmd := r.Changes(&cobra.Command{
		Use:   "cosmos DATABASE/CONTAINER [JSON|FILE|-]",
		Short: "Create or replace documents in a Cosmos DB container",
		Long: `Send creates or replaces documents in the Cosmos DB account of the running host,
and makes database and container when they do not exist. FILE holds one JSON
object with an "id", or an array of such objects. The JSON itself may stand in
the place of FILE; "-" and no FILE mean the standard input. Functions that watch
the container find the changes in its feed.

The account is there for the change feed only. No Cosmos DB client can connect
to it.`,
		Example: `  redeliver send cosmos shop/orders order.json
  echo '{"id":"7","customer":"a"}' | redeliver send cosmos shop/orders --partition-key /customer`,
		Args:              cli.Arguments(1, 2),
		ValidArgsFunction: completeCosmos(&r.Target, remote.OrFile),
		RunE: func(cmd *cobra.Command, args []string) error {
			err := nameContainer(cmd, &in.NewContainer, args[0])
			if err != nil {
				return err
			}
			if in.Body, err = document(std, args[1:]); err != nil {
				return err
			}
			return remote.Tell(cmd, r, in, wroteText)
		},
	})
	cmd.Flags().BoolVar(&in.Create, "create", false, "make the container though its name is near to another one")
	addContainer(cmd, &in.NewContainer, "a container that is made")
	return cmd
}

func wroteText(written *cosmos.CosmosWritten) string {
	where := "to"
	if written.Created {
		where = "to the new"
	}
	return cli.Textf("wrote %s %s container %q\n", cli.Plural(len(written.IDs), "document"), where, written.Path)
}

func newCreateCosmos(std cli.Streams) *cobra.Command {
	r := &remote.Remote{Std: std}
	var in cosmos.CreateContainer
	cmd := r.Changes(&cobra.Command{
		Use:   "cosmos DATABASE/CONTAINER",
		Short: "Make a Cosmos DB container",
		Long: `Create makes a container, and its database, in the Cosmos DB account of the
running host. Each of its ranges has a change feed and a lease of its own. So as
many batches as ranges can be in work at once.`,
		Example: `  redeliver create cosmos shop/orders
  redeliver create cosmos shop/orders --partition-key /customer --ranges 4`,
		Args:              cli.Arguments(1, 1),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := nameContainer(cmd, &in.NewContainer, args[0]); err != nil {
				return err
			}
			return remote.Tell(cmd, r, in, func(made *cosmos.CosmosContainer) string {
				return cli.Textf("created container %q (partition key %s, %s)\n", made.Path, made.PartitionKey, cli.Plural(len(made.Ranges), "range"))
			})
		},
	})
	addContainer(cmd, &in.NewContainer, "the container")
	return cmd
}

func newDeleteCosmos(std cli.Streams) *cobra.Command {
	r := &remote.Remote{Std: std}
	return r.Destroys(&cobra.Command{
		Use:   "cosmos DATABASE/CONTAINER",
		Short: "Remove a Cosmos DB container with its documents",
		Long: `Delete removes a container with its documents and its change feed from the
Cosmos DB account of the running host. Functions that watch it, or keep their
leases in it, fail to listen until there is one again. A container that is made
again is another one, and is read from the start that the trigger sets.`,
		Example:           `  redeliver delete cosmos shop/orders`,
		Args:              cli.Arguments(1, 1),
		ValidArgsFunction: completeCosmos(&r.Target, remote.NoMore),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := cosmosPath(args[0]); err != nil {
				return err
			}
			return remote.Tell(cmd, r, cosmos.DeleteContainer{Container: args[0]}, func(*ops.None) string { return cli.Textf("deleted container %q\n", args[0]) })
		},
	})
}

func newPeekCosmos(std cli.Streams) *cobra.Command {
	r := &remote.Remote{Std: std}
	var in cosmos.ReadDocuments
	cmd := r.Shows(&cobra.Command{
		Use:   "cosmos DATABASE/CONTAINER",
		Short: "Show documents of a Cosmos DB container",
		Long: `Peek shows documents of a container of the running host by their identifiers,
each on a line as it is stored, with the properties that the service adds. The
documents of a lease container say how far functions have come.`,
		Example: `  redeliver peek cosmos shop/orders
  redeliver peek cosmos shop/orders --id 7
  redeliver peek cosmos shop/leases`,
		Args:              cli.Arguments(1, 1),
		ValidArgsFunction: completeCosmos(&r.Target, remote.NoMore),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := cosmosPath(args[0]); err != nil {
				return err
			}
			if in.Max < 1 && cmd.Flags().Changed("max") {
				return cli.Misused(errors.New("--max: want a number of 1 or more"))
			}
			if in.ID != "" && in.Prefix != "" {
				return cli.Misused(errors.New("--id and --prefix exclude each other"))
			}
			in.Container = args[0]
			return remote.Tell(cmd, r, in, documentsText)
		},
	})
	cmd.Flags().IntVar(&in.Max, "max", 0, "show at most this many documents (default all)")
	cmd.Flags().StringVar(&in.ID, "id", "", "show only the documents with this identifier")
	cmd.Flags().StringVar(&in.Prefix, "prefix", "", "show only documents whose identifier begins with this")
	return cmd
}

func documentsText(found *cosmos.CosmosDocuments) string {
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

func newPurgeCosmos(std cli.Streams) *cobra.Command {
	r := &remote.Remote{Std: std}
	var in cosmos.PurgeDocuments
	cmd := r.Destroys(&cobra.Command{
		Use:   "cosmos DATABASE/CONTAINER",
		Short: "Remove the documents of a Cosmos DB container",
		Long: `Purge removes the documents of a container of the running host, or only the
documents that --id names. The container stays, and so do the positions of its
change feed, which does not show that documents were removed.

After a purge of their lease container functions start anew, at the start that
their triggers set. Batches in work are not checkpointed.`,
		Example: `  redeliver purge cosmos shop/orders
  redeliver purge cosmos shop/orders --id 7
  redeliver purge cosmos shop/leases`,
		Args:              cli.Arguments(1, 1),
		ValidArgsFunction: completeCosmos(&r.Target, remote.NoMore),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := cosmosPath(args[0]); err != nil {
				return err
			}
			in.Container = args[0]
			return remote.Tell(cmd, r, in, purgedCosmos)
		},
	})
	cmd.Flags().Var(cli.Maybe{Text: &in.ID}, "id", "remove only the documents with this identifier")
	return cmd
}

func purgedCosmos(out *ops.Purged) string {
	return cli.Textf("removed %s from container %q\n", cli.Plural(out.Removed, "document"), out.Path)
}

// newRedriveCosmos explains that there is nothing to redrive, and names the
// alternatives.
func newRedriveCosmos() *cobra.Command {
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

// cosmosRows lists each range of a container once for each set of leases.
func cosmosRows(inv *run.Inventory) (rows [][]string) {
	for i := range inv.Cosmos {
		c := &inv.Cosmos[i]
		documents := map[string]string{}
		for _, r := range c.Ranges {
			documents[r.ID] = strconv.Itoa(r.Items)
			if len(c.Leases) == 0 {
				rows = append(rows, []string{c.Path, "-", "-", r.ID, documents[r.ID], "-", "-"})
			}
		}
		for _, l := range c.Leases {
			leases := l.Container
			if l.Prefix != "" {
				leases += " " + l.Prefix
			}
			if l.Error != "" {
				rows = append(rows, []string{c.Path, leases, "-", "-", strconv.Itoa(c.Documents), "missing", "-"})
			}
			for _, r := range l.Ranges {
				rows = append(rows, append([]string{c.Path, leases}, leaseCells(&r, documents[r.Range])...))
			}
		}
	}
	return rows
}

func leaseCells(r *cosmosdb.Lease, documents string) []string {
	owner, continuation, pending := "-", "-", "-"
	switch {
	case r.Function != "":
		owner = r.Function
	case r.Owner != "":
		owner = r.Owner
	}
	if text := strings.Trim(r.Continuation, `"`); text != "" {
		continuation = text
	}
	if r.Error != "" {
		continuation = "unreadable"
	}
	if r.Pending != nil {
		pending = strconv.Itoa(*r.Pending)
	}
	return []string{owner, r.Range, documents, continuation, pending}
}

// document reads JSON as it stands there, a file, or the standard input.
func document(std cli.Streams, args []string) ([]byte, error) {
	if len(args) == 0 {
		args = []string{"-"}
	}
	return jsonOrFile(std, args)
}
