package main

import (
	"context"

	"github.com/redeliver/redeliver/functions"
)

// notifyApp is the handler of apps with outputs that are not served.
func notifyApp() *functions.App {
	app := functions.New()
	app.Queue("Notify", "orders", func(ctx context.Context, m functions.QueueMessage) error {
		customer, _ := functions.GetInput(ctx, "customer")
		for _, set := range []struct {
			name  string
			value any
		}{
			{"mail", map[string]string{"subject": "order " + m.Text(), "to": customer.Text()}},
			{"rows", []map[string]string{{"id": m.Text()}}},
			{"entity", map[string]string{"PartitionKey": "orders", "RowKey": m.Text()}},
		} {
			if err := functions.SetOutput(ctx, set.name, set.value); err != nil {
				return err
			}
		}
		return nil
	})
	return app
}
