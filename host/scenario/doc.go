// Package scenario runs scenarios: files that say what must happen to the messages,
// requests and events of a function app.
//
//	app: .
//	functions:
//	  ProcessOrder: {handler: fail}
//	when:
//	  - send: {queue: orders, body: {id: 7}}
//	then:
//	  functions:
//	    ProcessOrder: {attempts: 25, deliveries: [5, 5, 5, 5, 5], ends: poisoned}
//	  queues: {orders-poison: [{id: 7}]}
//
// A scenario runs a whole host (host/hosttest): the real loader, listeners, retry loop
// and services, in virtual time. Its handlers are the app's own, in any language, or
// scripted by the scenario, without code.
//
// Read [Load], [Scenario] and [Run]. The schema of the files is schemas/scenario.json.
// Command "redeliver test" is a user of this package.
package scenario
