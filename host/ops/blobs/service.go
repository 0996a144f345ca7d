// Package blobs has the operations on the blobs of the embedded storage account.
package blobs

import (
	"context"
	"strconv"
	"strings"

	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/ops"
	"github.com/redeliver/redeliver/host/ops/queues"
)

// Service is Blob storage.
var Service = &ops.Service{ // read only
	Name: "blob", Path: "containers", Noun: "container", Scene: ops.Scene{Entity: "container"},
	Needs: "storage", Outside: queues.Outside, Refuse: queues.Refusal,
	List: func(ctx context.Context, e *ops.Env) (any, error) { return infos(ctx, e) },
	Listings: []ops.Listing{{
		Name: "containers", Columns: []string{"CONTAINER", "BLOBS", "BYTES"}, Numbers: 2,
		Rows: ops.Rows(func(c *ContainerInfo) [][]string {
			return [][]string{{c.Name, strconv.Itoa(c.Blobs), strconv.FormatInt(c.Bytes, 10)}}
		}),
	}},
	Entities: names, Bound: bound, Within: within, Faults: operations,
	Each: each, Body: body, Redrive: redrive,
}

// Operations are those of this package.
func Operations() []ops.Deed {
	return []ops.Deed{ops.Of(Upload{}), ops.Of(Download{}), ops.Of(PurgeContainer{})}
}

func names(ctx context.Context, e *ops.Env) (names []string, err error) {
	list, err := infos(ctx, e)
	for _, c := range list {
		names = append(names, c.Name)
	}
	return names, err
}

var bound = map[string]func(*app.Binding) []string{"blob": containers, "blobTrigger": containers} // read only

func containers(b *app.Binding) []string {
	return []string{within(b.String("path")), "azure-webjobs-hosts"}
}

// within is the container of a blob's path.
func within(path string) string {
	container, _, _ := strings.Cut(path, "/")
	return container
}
