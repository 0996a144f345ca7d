package main

import (
	"context"
	"errors"

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

// choresApp is the handler of apps with functions that are run by hand or at the start.
func choresApp() *functions.App {
	app := functions.New()
	app.Handle("warmup", func(ctx context.Context, _ *functions.Trigger) error {
		functions.Logger(ctx).Info("caches filled")
		return nil
	}, functions.Binding(`{"type": "warmupTrigger", "name": "context"}`))
	app.Handle("Rebuild", func(ctx context.Context, t *functions.Trigger) error {
		if t.Input.Text() == "" {
			return errors.New("nothing to rebuild")
		}
		functions.Logger(ctx).Info("rebuilt", "what", t.Input.Text())
		return nil
	}, functions.Binding(`{"type": "manualTrigger", "name": "input"}`))
	return app
}
