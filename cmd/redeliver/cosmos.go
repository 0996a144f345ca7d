package main

import (
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/redeliver/redeliver/host/web"
)

func newSendCosmos(std streams) *cobra.Command {
	var t target
	var key string
	var ranges int
	cmd := &cobra.Command{
		Use:   "cosmos DATABASE/CONTAINER [FILE|-]",
		Short: "Create or replace documents in a Cosmos DB container",
		Long: `Send creates or replaces documents in the Cosmos DB account of the running host,
and makes database and container when they do not exist. FILE holds one JSON object
with an "id", or an array of such; "-" and no FILE mean the standard input. Functions
that watch the container find the changes in its feed.

The account is there for the change feed only. No Cosmos DB client can connect to it.`,
		Example: `  redeliver send cosmos shop/orders order.json
  echo '{"id":"7","customer":"a"}' | redeliver send cosmos shop/orders --partition-key /customer`,
		Args: arguments(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			in, err := document(std, args[1:])
			if err != nil {
				return err
			}
			c, err := t.find()
			if err != nil {
				return err
			}
			query := url.Values{"container": {args[0]}}
			if key != "" {
				query.Set("partitionKey", key)
			}
			if ranges != 0 {
				query.Set("ranges", strconv.Itoa(ranges))
			}
			var written web.CosmosWritten
			if err := c.call(cmd.Context(), http.MethodPost, "/cosmos/documents", query, in, &written); err != nil {
				return err
			}
			newConsole(std, true).printf("wrote %s to container %q\n", plural(len(written.IDs), "document"), args[0])
			return nil
		},
	}
	cmd.Flags().StringVar(&key, "partition-key", "", "partition key of a container that is made, e.g. /customer (default /id)")
	cmd.Flags().IntVar(&ranges, "ranges", 0, "number of ranges of a container that is made (default 1)")
	addTarget(cmd, &t)
	return cmd
}

// document reads a file, or the standard input.
func document(std streams, args []string) ([]byte, error) {
	if len(args) == 0 || args[0] == "-" {
		return io.ReadAll(std.in)
	}
	return os.ReadFile(args[0])
}
