package main

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/redeliver/redeliver/host/web/control"
)

// cosmosSpec are the flags that say how a container is made.
type cosmosSpec struct {
	key    string
	ranges int
}

func (s *cosmosSpec) add(cmd *cobra.Command, of string) {
	cmd.Flags().StringVar(&s.key, "partition-key", "", "partition key of "+of+", e.g. /customer (default /id)")
	cmd.Flags().IntVar(&s.ranges, "ranges", 0, "number of ranges of "+of+" (default 1)")
}

// query names the container and how it is made.
func (s *cosmosSpec) query(cmd *cobra.Command, container string) (url.Values, error) {
	query, err := cosmosPath(container)
	if err != nil {
		return nil, err
	}
	if cmd.Flags().Changed("ranges") && s.ranges < 1 {
		return nil, &usageError{errors.New("--ranges: want a number of 1 or more")}
	}
	if s.key != "" {
		query.Set("partitionKey", s.key)
	}
	if s.ranges != 0 {
		query.Set("ranges", strconv.Itoa(s.ranges))
	}
	return query, nil
}

// cosmosPath is the query that names a container.
func cosmosPath(container string) (url.Values, error) {
	database, name, ok := strings.Cut(container, "/")
	if !ok || database == "" || name == "" || strings.Contains(name, "/") {
		return nil, hinted(&usageError{fmt.Errorf("%q names no container", container)}, "a container is named DATABASE/CONTAINER, for instance shop/orders")
	}
	return url.Values{"container": {container}}, nil
}

// completeCosmos completes the first argument with containers of the running host.
func completeCosmos(t *target, then cobra.ShellCompDirective) completion {
	return completeFirst(t, then, func(inv *control.Inventory) (names []string) {
		for _, c := range inv.Cosmos {
			names = append(names, c.Path)
		}
		return names
	})
}

func newSendCosmos(std streams) *cobra.Command {
	var t target
	var spec cosmosSpec
	var asJSON bool
	cmd := &cobra.Command{
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
		Args:              arguments(1, 2),
		ValidArgsFunction: completeCosmos(&t, orFile),
		RunE: func(cmd *cobra.Command, args []string) error {
			query, err := spec.query(cmd, args[0])
			if err != nil {
				return err
			}
			in, err := document(std, args[1:])
			if err != nil {
				return err
			}
			var written control.CosmosWritten
			if done, err := callHost(cmd, &t, std, asJSON, http.MethodPost, "/cosmos/documents", query, in, &written); done || err != nil {
				return err
			}
			where := "to"
			if written.Created {
				where = "to the new"
			}
			newConsole(std, true).printf("wrote %s %s container %q\n", plural(len(written.IDs), "document"), where, written.Path)
			return nil
		},
	}
	spec.add(cmd, "a container that is made")
	addJSON(cmd, &asJSON)
	addTarget(cmd, &t)
	return cmd
}

func newCreateCosmos(std streams) *cobra.Command {
	var t target
	var spec cosmosSpec
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "cosmos DATABASE/CONTAINER",
		Short: "Make a Cosmos DB container",
		Long: `Create makes a container, and its database, in the Cosmos DB account of the
running host. Each of its ranges has a change feed and a lease of its own. So as
many batches as ranges can be in work at once.`,
		Example: `  redeliver create cosmos shop/orders
  redeliver create cosmos shop/orders --partition-key /customer --ranges 4`,
		Args:              arguments(1, 1),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			query, err := spec.query(cmd, args[0])
			if err != nil {
				return err
			}
			var made control.CosmosContainer
			if done, err := callHost(cmd, &t, std, asJSON, http.MethodPut, "/cosmos/container", query, nil, &made); done || err != nil {
				return err
			}
			newConsole(std, true).printf("created container %q (partition key %s, %s)\n", made.Path, made.PartitionKey, plural(len(made.Ranges), "range"))
			return nil
		},
	}
	spec.add(cmd, "the container")
	addJSON(cmd, &asJSON)
	addTarget(cmd, &t)
	return cmd
}

func newDeleteCosmos(std streams) *cobra.Command {
	var t target
	cmd := &cobra.Command{
		Use:   "cosmos DATABASE/CONTAINER",
		Short: "Remove a Cosmos DB container with its documents",
		Long: `Delete removes a container with its documents and its change feed from the
Cosmos DB account of the running host. Functions that watch it, or keep their
leases in it, fail to listen until there is one again. A container that is made
again is another one, and is read from the start that the trigger sets.`,
		Example:           `  redeliver delete cosmos shop/orders`,
		Args:              arguments(1, 1),
		ValidArgsFunction: completeCosmos(&t, noMore),
		RunE: func(cmd *cobra.Command, args []string) error {
			query, err := cosmosPath(args[0])
			if err != nil {
				return err
			}
			c, err := t.find()
			if err != nil {
				return err
			}
			if err := c.call(cmd.Context(), http.MethodDelete, "/cosmos/container", query, nil, nil); err != nil {
				return err
			}
			newConsole(std, true).printf("deleted container %q\n", args[0])
			return nil
		},
	}
	addTarget(cmd, &t)
	return cmd
}

func newPeekCosmos(std streams) *cobra.Command {
	var t target
	var v view
	var id, prefix string
	var most int
	cmd := &cobra.Command{
		Use:   "cosmos DATABASE/CONTAINER",
		Short: "Show documents of a Cosmos DB container",
		Long: `Peek shows documents of a container of the running host by their identifiers,
each on a line as it is stored, with the properties that the service adds. The
documents of a lease container say how far functions have come.`,
		Example: `  redeliver peek cosmos shop/orders
  redeliver peek cosmos shop/orders --id 7
  redeliver peek cosmos shop/leases`,
		Args:              arguments(1, 1),
		ValidArgsFunction: completeCosmos(&t, noMore),
		RunE: func(cmd *cobra.Command, args []string) error {
			asJSON, err := v.json()
			if err != nil {
				return err
			}
			query, err := cosmosPath(args[0])
			if err != nil {
				return err
			}
			if most < 1 {
				return &usageError{errors.New("--max: want a number of 1 or more")}
			}
			if id != "" && prefix != "" {
				return &usageError{errors.New("--id and --prefix exclude each other")}
			}
			for name, value := range map[string]string{"id": id, "prefix": prefix, "max": strconv.Itoa(most)} {
				if value != "" {
					query.Set(name, value)
				}
			}
			var found control.CosmosDocuments
			if done, err := callHost(cmd, &t, std, asJSON, http.MethodGet, "/cosmos/documents", query, nil, &found); done || err != nil {
				return err
			}
			var b strings.Builder
			writef(&b, "container %q: %s", found.Path, plural(found.Count, "document"))
			if hidden := found.Count - len(found.Documents); hidden > 0 {
				writef(&b, ", %d not shown (beyond --max)", hidden)
			}
			b.WriteByte('\n')
			for _, d := range found.Documents {
				writef(&b, "%s\n", d)
			}
			newConsole(std, true).print(b.String())
			return nil
		},
	}
	cmd.Flags().IntVar(&most, "max", 32, "show at most this many documents")
	cmd.Flags().StringVar(&id, "id", "", "show only the documents with this identifier")
	cmd.Flags().StringVar(&prefix, "prefix", "", "show only documents whose identifier begins with this")
	v.add(cmd)
	addTarget(cmd, &t)
	return cmd
}

func newPurgeCosmos(std streams) *cobra.Command {
	var t target
	var asJSON bool
	var id string
	cmd := &cobra.Command{
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
		Args:              arguments(1, 1),
		ValidArgsFunction: completeCosmos(&t, noMore),
		RunE: func(cmd *cobra.Command, args []string) error {
			query, err := cosmosPath(args[0])
			if err != nil {
				return err
			}
			if cmd.Flags().Changed("id") {
				query.Set("id", id)
			}
			var out control.Purged
			if done, err := callHost(cmd, &t, std, asJSON, http.MethodDelete, "/cosmos/documents", query, nil, &out); done || err != nil {
				return err
			}
			newConsole(std, true).printf("removed %s from container %q\n", plural(out.Removed, "document"), out.Path)
			return nil
		},
	}
	cmd.Flags().StringVar(&id, "id", "", "remove only the documents with this identifier")
	addJSON(cmd, &asJSON)
	addTarget(cmd, &t)
	return cmd
}

// newRedriveCosmos explains that there is nothing to redrive, and names the
// alternatives.
func newRedriveCosmos() *cobra.Command {
	return &cobra.Command{
		Use:                "cosmos",
		Hidden:             true,
		DisableFlagParsing: true,
		RunE: func(*cobra.Command, []string) error {
			return hinted(&usageError{errors.New("there is nothing to redrive: Cosmos DB has no poison messages and no dead letters; a failed batch is lost when its range moves on")},
				`write its documents again (redeliver send cosmos), or purge the lease container to have all of the feed read again`)
		},
	}
}

// cosmosRows lists each range of a container once for each set of leases.
func cosmosRows(inv *control.Inventory) (rows [][]string) {
	for i := range inv.Cosmos {
		c := &inv.Cosmos[i]
		documents := map[string]string{}
		for _, r := range c.Ranges {
			documents[r.ID] = strconv.Itoa(r.Documents)
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

func leaseCells(r *control.CosmosLease, documents string) []string {
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
func document(std streams, args []string) ([]byte, error) {
	if len(args) == 0 {
		args = []string{"-"}
	}
	return jsonOrFile(std, args)
}
