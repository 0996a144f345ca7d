// The app of the acceptance test, as a user would write it: a function for each
// message, and one for each blob. Messages and blobs that say "bad" fail.
package main

import (
	"context"
	"errors"
	"strings"

	"github.com/redeliver/redeliver/functions"
)

var errBad = errors.New("it is bad")

func main() {
	app := functions.New()
	app.Queue("Order", "orders", func(_ context.Context, m functions.QueueMessage) error { return check(m.Text()) })
	app.Blob("Import", "uploads/{name}", func(_ context.Context, b functions.Blob) error { return check(b.Text()) })
	functions.Main(app)
}

func check(text string) error {
	if strings.Contains(text, "bad") {
		return errBad
	}
	return nil
}
