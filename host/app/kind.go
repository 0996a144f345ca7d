package app

import (
	"strings"
	"time"

	"github.com/redeliver/redeliver/schemas"
)

// Kind holds the facts of one trigger kind that loading and checking need. The
// functions may be nil.
type Kind struct {
	// Type is the canonical spelling, e.g. "queueTrigger"; types match ignoring
	// case.
	Type string

	// OfficialRetry marks the kinds that the platform supports retries on
	// (timer, Cosmos DB, Event Hubs, Kafka): no warning, and they keep their
	// policy under retryTriggers "ga".
	OfficialRetry bool

	// NeedsStorage is set for kinds that cannot start without
	// AzureWebJobsStorage: all but http, kafka and rabbitmq.
	NeedsStorage bool

	// Connection is the name that an empty "connection" stands for, e.g.
	// "Storage"; "" for kinds without connections.
	Connection string

	// Deliveries returns how often the source hands out a message that always
	// fails. Nil means once.
	Deliveries func(a *App, f *Function) (n int, unbounded bool)

	// Lock returns for how long the source locks what it hands out, when a function
	// does not ask for more, for lint L-7; 0 when it is not known. Nil means not
	// known.
	Lock func(a *App, f *Function) time.Duration

	// End says where a message ends after its last failed delivery, e.g.
	// `queue "orders-poison"` or "500 to the caller".
	End func(a *App, f *Function) string

	// Period returns the shortest time between two deliveries of a schedule, for
	// lint L-13; ok is false when it has none. Without it only schedules that are
	// time spans are looked at.
	Period func(a *App, f *Function) (period time.Duration, ok bool)

	// Validate checks what only this kind knows: names, schedules, routes. It is
	// not called when something is wrong with the trigger already. File, position
	// and quotes around Found are filled in.
	Validate func(a *App, f *Function) []*schemas.Fault
}

func findKind(kinds []Kind, typ string) *Kind {
	for i := range kinds {
		if strings.EqualFold(kinds[i].Type, typ) {
			return &kinds[i]
		}
	}
	return nil
}
