package main

import (
	"context"
	"errors"
	"time"

	"github.com/redeliver/redeliver/functions"
)

// cosmosApp fails for every batch whose first document has "fail".
func cosmosApp() *functions.App {
	app := functions.New()
	app.CosmosDB("Changed", "shop", "orders", func(ctx context.Context, documents []functions.CosmosDocument) error {
		for _, d := range documents {
			functions.Logger(ctx).Info("changed", "id", d.ID(), "retry", functions.Retry(ctx).RetryCount)
		}
		var first struct{ Fail bool }
		if err := documents[0].Decode(&first); err != nil {
			return err
		}
		if first.Fail {
			return errors.New("payment service unavailable")
		}
		return nil
	}, functions.FixedDelay(4, time.Hour), functions.CreateLeases(), functions.FromBeginning())
	return app
}
