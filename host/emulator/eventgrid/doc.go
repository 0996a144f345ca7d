// Package eventgrid is the embedded Event Grid: topics and event subscriptions,
// filters, the retry schedule, probation, dead-lettering, all on the injected
// clock, so that a day of retries is a matter of milliseconds.
//
// Read [Grid] first, then schedule.go for when an event is tried again,
// delivery.go for the life of one event at one subscription, and pump.go for who
// moves it. An event that is published becomes one delivery for each subscription
// whose filters it passes; nothing joins them afterwards.
//
// Event Grid pushes. So, unlike the other embedded services, a Grid has goroutines
// of the clock: one that waits for the next thing that is due, while anything is,
// and one for each request that is out. [Grid.Close] ends them.
//
// Events go to an [Endpoint]: a function of the same host, which the host
// lends through Options.Function, or a web hook. The server for publishers
// is host/emulator/rest/grid.
//
// The rules come from the founding documents and from Microsoft's documentation
// (docs: articles/event-grid/delivery-and-retry.md, manage-event-delivery.md,
// event-filtering.md, webhook-event-delivery.md); where the two differ,
// Options.Rules chooses. What it leaves out: name spaces with pull delivery and
// MQTT, domains, custom input schemas, and destinations other than functions and
// web hooks.
package eventgrid
