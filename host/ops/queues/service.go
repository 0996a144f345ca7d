// Package queues has the operations on the queues of the embedded storage account.
package queues

import (
	"context"
	"strconv"

	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/ops"
	blobtrigger "github.com/redeliver/redeliver/triggers/blob"
)

// Service is Queue storage.
var Service = &ops.Service{ // read only
	Name: "queue", Path: "queues", Noun: "queue", Scene: ops.Scene{Entity: "queue"},
	Needs: "storage", Outside: Outside, Refuse: Refusal,
	List: func(ctx context.Context, e *ops.Env) (any, error) { return infos(ctx, e) },
	Listings: []ops.Listing{{
		Name: "queues", Columns: []string{"QUEUE", "VISIBLE", "INVISIBLE"}, Numbers: 2,
		Rows: ops.Rows(func(q *QueueInfo) [][]string {
			return [][]string{{q.Name, strconv.Itoa(q.Visible), strconv.Itoa(q.Invisible)}}
		}),
	}},
	Entities: func(ctx context.Context, e *ops.Env) ([]string, error) { return e.Host.AppStorage().Queues(ctx) },
	Bound:    bound, Due: due, Faults: operations,
	Each: each, Again: again, Release: release, Bury: bury, Redrive: redriveAll,
}

// Operations are those of this package.
func Operations() []ops.Deed {
	return []ops.Deed{ops.Of(ListQueues{}), ops.Of(SendMessage{}), ops.Of(PeekQueue{}), ops.Of(PurgeQueue{}), ops.Of(RedriveQueue{})}
}

// Outside says which setting names a storage account that is not this host's.
func Outside(e *ops.Env) (setting, what, short string) {
	return e.Host.StorageOutside(), "an account", "account"
}

var bound = map[string]func(*app.Binding) []string{ // read only
	"queue": queueNames, "queueTrigger": queueNames,
	"blobTrigger": func(*app.Binding) []string { return []string{blobtrigger.PoisonQueue} },
}

func queueNames(b *app.Binding) []string {
	name := b.String("queueName")
	return []string{name, name + "-poison"}
}
