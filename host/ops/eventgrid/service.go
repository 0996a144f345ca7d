// Package eventgrid has the operations on the embedded Event Grid.
package eventgrid

import (
	"context"

	"github.com/redeliver/redeliver/host/ops"
)

// Service is Event Grid.
var Service = &ops.Service{ // read only
	Name: "eventgrid", Path: "eventgrid", Noun: "subscription", Scene: ops.Scene{Entity: "eventGrid", Kind: "Event Grid subscription"}, Refuse: Refusal,
	List: func(_ context.Context, e *ops.Env) (any, error) { return topics(e), nil },
	Listings: []ops.Listing{{
		Name: "eventgrid", Columns: []string{"EVENT SUBSCRIPTION", "ENDPOINT", "STATE", "NEXT ATTEMPT", "PENDING", "DEAD LETTERS DUE"}, Numbers: 2, Quiet: true,
		Rows: ops.Rows(rows), Names: ops.Names((*GridTopic).SubscriptionNames),
	}, {
		Name: "deliveries", Columns: []string{"EVENT", "SUBSCRIPTION", "LAST OUTCOME", "NEXT ATTEMPT", "ATTEMPTS"}, Numbers: 1, Quiet: true,
		Rows: ops.Rows(deliveryRows),
	}},
	Entities: subscriptions, Names: names, Due: due, Faults: operations,
	Each: each, Release: release, Bury: bury, Redrive: redrive,
}

// Operations are those of this package.
func Operations() []ops.Deed {
	return []ops.Deed{ops.Of(CreateTopic{}), ops.Of(Subscribe{}), ops.Of(DeleteTopic{}), ops.Of(Unsubscribe{}), ops.Of(Publish{}), ops.Of(RedriveEvents{})}
}

// names are those of the topics.
func names(e *ops.Env) (names []string) {
	for _, topic := range topics(e) {
		names = append(names, topic.Name)
	}
	return names
}

func subscriptions(_ context.Context, e *ops.Env) (names []string, err error) {
	for _, topic := range topics(e) {
		names = append(names, topic.SubscriptionNames()...)
	}
	return names, nil
}
