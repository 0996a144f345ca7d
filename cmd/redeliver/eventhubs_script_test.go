package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/redeliver/redeliver/functions"
)

// relayApp sends what it is called with to a hub, and fails for every event of the hub
// that says "bad". Its pauses are short: a hub outside is a matter of real time.
func relayApp() *functions.App {
	app := functions.New()
	app.HTTP("Relay", func(w http.ResponseWriter, r *http.Request) {
		if err := functions.SetOutput(r.Context(), "event", r.URL.Query().Get("text")); err != nil {
			functions.Fail(r.Context(), err)
		}
		fmt.Fprintln(w, "relayed")
	}, functions.Methods("GET"), functions.EventHubOutput("event", "readings"))
	app.HTTP("Alive", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "alive") }, functions.Methods("GET"))
	app.EventHub("OnReading", "readings", func(_ context.Context, e functions.EventHubEvent) error {
		if e.Text() == "bad" {
			return errors.New("database down")
		}
		return nil
	}, functions.FixedDelay(4, 50*time.Millisecond))
	return app
}
