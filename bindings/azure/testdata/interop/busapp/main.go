// An app whose one function fails always, with four retries in each delivery.
package main

import (
	"context"
	"errors"

	"github.com/redeliver/redeliver/functions"
)

func main() {
	app := functions.New()
	app.ServiceBusQueue("Order", "orders", func(context.Context, functions.ServiceBusMessage) error { return errors.New("it is bad") },
		functions.FixedDelay(4, 0))
	functions.Main(app)
}
