package scenario_test

import (
	"strings"
	"testing"
)

// A name that is nowhere is a fault, with the name that was meant: what a scenario sends
// there comes to nobody, and nothing is ever found there.
func TestNamesThatAreNowhere(t *testing.T) {
	t.Parallel()
	const app = `host: {redeliver: {eventGrid: {topics: [{name: shop, subscriptions: [{name: index, function: Grid, deadLetterContainer: dead}]}]}}}
functions:
  Ship: {trigger: {type: queueTrigger, queueName: parcels}, bindings: [{type: queue, direction: out, name: log, queueName: "log-{day}"}, {type: blob, direction: out, name: copy, path: "copies/{id}"}], handler: succeed}
  Pics: {trigger: {type: blobTrigger, path: "pics/{n}"}, handler: succeed}
  Meter: {trigger: {type: eventHubTrigger, eventHubName: readings}, handler: succeed}
  Feed: {trigger: {type: cosmosDBTrigger, databaseName: shop, containerName: orders, createLeaseContainerIfNotExists: true}, handler: succeed}
  Grid: {trigger: {type: eventGridTrigger}, handler: succeed}
`
	const nobody = "functions: {Ship: {attempts: 0}}"
	for name, test := range map[string]struct{ steps, then, want string }{
		"send":               {"{send: {queue: parcells, body: x}}", nobody, "when[0].send.queue: there is no queue \"parcells\": no binding, no service and no entity has this name; did you mean \"parcels\"?"},
		"upload":             {"{upload: {blob: pix/a, body: x}}", nobody, "when[0].upload.blob: there is no container \"pix\""},
		"events":             {"{sendEvents: {eventHub: readngs, bodies: [a]}}", nobody, "when[0].sendEvents.eventHub: there is no event hub \"readngs\""},
		"documents":          {"{write: {container: shop/order, documents: [{id: a}]}}", nobody, "when[0].write.container: there is no Cosmos DB container \"shop/order\""},
		"no poison messages": {"", "queues: {parcels-poizon: 0}", "then.queues.parcels-poizon: there is no queue \"parcels-poizon\""},
		"no bodies":          {"", "queues: {parcell: []}", "then.queues.parcell: there is no queue"},
		"none in work":       {"", "hidden: {parcell: 0}", "then.hidden.parcell: there is no queue"},
		"no blobs":           {"", "containers: {pix: []}", "then.containers.pix: there is no container"},
		"no blob":            {"", "blobs: {copis/7: null}", "then.blobs.copis/7: there is no container \"copis\""},
		"no documents":       {"", "cosmos: {shop/order: 0}", "then.cosmos.shop/order: there is no Cosmos DB container"},
		"no checkpoint":      {"", "checkpoints: {readngs/$Default/0: null}", "there is no event hub \"readngs\""},
		"absent, and there":  {"{send: {queue: parcels, body: x}}", "queues: {parcels: {exists: false}}", "then.queues.parcels: there is a queue \"parcels\"\n  want  none"},
		"all that is known":  {"{send: {queue: parcels, body: x}}, {send: {queue: parcels-poison, body: x}}, {send: {queue: log-monday, body: x}}, {send: {queue: mine, body: x}}, {send: {queue: looked, body: x}}, {upload: {blob: dead/a, body: x}}, {upload: {blob: copies/a, body: x}}", "queues: {mine: 1, looked: [x], log-tuesday: 0, never: {exists: false}}, containers: {box: [], never: {exists: false}}, blobs: {azure-webjobs-hosts/a: null}, hidden: {parcels: 0, never: {exists: false}}, cosmos: {shop/leases: 0, shop/own: 0, a/b: {exists: false}}, checkpoints: {meters/$Default/0: null}", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const entities = "entities: {queues: [mine], containers: [box], eventHubs: [meters], cosmos: [shop/own]}\n"
			got := inFolder(t, map[string]string{"a.scenario.yaml": app + entities + "when: [" + test.steps + "]\nthen: {" + test.then + "}\n"})
			if test.want == "" && got != "" || !strings.Contains(got, test.want) {
				t.Errorf("got  %q\nwant %q in it", got, test.want)
			}
		})
	}
}

// Each key of a scenario that takes a name: a misspelt one is a fault that tells the file,
// the path and the name that was meant.
func TestMisspeltNames(t *testing.T) {
	t.Parallel()
	const app = `host: {redeliver: {eventGrid: {topics: [{name: shop, subscriptions: [{name: index, function: Grid, deadLetterContainer: dead}]}]}}}
entities: {serviceBus: {queues: {plain: {lockDuration: 1m}}, topics: {news: {subscriptions: {all: {maxDeliveryCount: 2}}}}}}
settings: {}
functions:
  Ship: {trigger: {type: queueTrigger, queueName: parcels}, bindings: [{type: queue, direction: out, name: log, queueName: log}, {type: sendGrid, direction: out, name: mail}], handler: {outputs: {log: x}}}
  Bus: {trigger: {type: serviceBusTrigger, queueName: orders}, retry: {strategy: fixedDelay, maxRetryCount: 2, delayInterval: "00:00:10"}, redeliver: {circuitBreaker: {failures: 9, pause: "00:05:00"}}, handler: succeed}
  Sub: {trigger: {type: serviceBusTrigger, topicName: news, subscriptionName: all}, handler: succeed}
  Meter: {trigger: {type: eventHubTrigger, eventHubName: readings}, handler: succeed}
  Feed: {trigger: {type: cosmosDBTrigger, databaseName: shop, containerName: orders, createLeaseContainerIfNotExists: true}, handler: succeed}
  Ask: {trigger: {type: httpTrigger, authLevel: anonymous}, handler: succeed}
  Pic: {trigger: {type: blobTrigger, path: "pics/{n}"}, handler: succeed}
  Grid: {trigger: {type: eventGridTrigger}, handler: succeed}
`
	sent := "{send: {queue: parcels, body: x}}, "
	for _, test := range []struct{ replace, by, steps, then, path, meant string }{
		// What the scenario writes into files of the app.
		{"host: {", "host: {functionTimeot: '00:00:10', ", "", "", "host.functionTimeot", "functionTimeout"},
		{"host: {", "host: {extensions: {queues: {maxDequeCount: 3}}, ", "", "", "host.extensions.queues.maxDequeCount", "maxDequeueCount"},
		{"host: {", "host: {retry: {strategy: fixedDelay, maxRetries: 2, delayInterval: '00:00:10'}, ", "", "", "host.retry.maxRetries", "maxRetryCount"},
		{"host: {", "host: {colour: blue, ", "", "", "host.colour", "functionTimeout"},
		{"host: {", "host: {functions: [Shp, Bus, Sub, Meter, Feed, Ask, Pic, Grid], ", "", "", "host.functions[0]", "Ship"},
		{"function: Grid", "function: Gird", "", "", "host.redeliver.eventGrid.topics[0].subscriptions[0].function", "Grid"},
		{"deadLetterContainer", "deadLeterContainer", "", "", "host.redeliver.eventGrid.topics[0].subscriptions[0].deadLeterContainer", "deadLetterContainer"},
		{"settings: {}", "settings: {AzureWebJobs.Shp.Disabled: 'true'}", "", "", `settings["AzureWebJobs.Shp.Disabled"]`, "Ship"},
		{"settings: {}", "settings: {AzureFunctionsJobHost__functionTimeot: '00:00:10'}", "", "", "settings.AzureFunctionsJobHost__functionTimeot", "functionTimeout"},
		{"lockDuration", "lockDuraton", "", "", "entities.serviceBus.queues.plain.lockDuraton", "lockDuration"},
		{"lockDuration: 1m", "forwardTo: newz", "", "", "entities.serviceBus.queues.plain.forwardTo", "a queue or topic of this file"},
		{"{subscriptions: {all", "{subscription: {all", "", "", "entities.serviceBus.topics.news.subscription", "subscriptions"},
		{"maxDeliveryCount", "maxDeliverCount", "", "", "entities.serviceBus.topics.news.subscriptions.all.maxDeliverCount", "maxDeliveryCount"},
		{"queueName: parcels", "queueName: parcels, conection: X", "", "", "functions.Ship.trigger.conection", "connection"},
		{"type: queueTrigger", "type: queueTriger", "", "", "functions.Ship.trigger.type", "queueTrigger"},
		{"queueName: log", "queueNme: log", "", "", "functions.Ship.bindings[0].queueNme", "queueName"},
		{"delayInterval", "delayIntervall", "", "", "functions.Bus.retry.delayIntervall", "delayInterval"},
		{"circuitBreaker", "circuitBraker", "", "", "functions.Bus.redeliver.circuitBraker", "circuitBreaker"},
		{"{outputs: {log", "{outputs: {lgo", "", "", "functions.Ship.handler.outputs.lgo", "log"},
		// Steps.
		{"", "", "{send: {queue: parcells, body: x}}", "", "when[0].send.queue", "parcels"},
		{"", "", "{send: {serviceBus: oders, body: x}}", "", "when[0].send.serviceBus", "orders"},
		{"", "", "{sendEvents: {eventHub: readngs, bodies: [x]}}", "", "when[0].sendEvents.eventHub", "readings"},
		{"", "", "{upload: {blob: pix/a, body: x}}", "", "when[0].upload.blob", "pics"},
		{"", "", "{publish: {topic: shpo, events: [{subject: a}]}}", "", "when[0].publish.topic", "shop"},
		{"", "", "{write: {container: shop/order, documents: [{id: a}]}}", "", "when[0].write.container", "shop/orders"},
		{"", "", "{request: {path: /api/Ask, method: PSOT, expect: {status: 404}}}", "", "when[0].request.method", "POST"},
		{"", "", "{call: {function: Aks}}", "", "when[0].call.function", "Ask"},
		{"", "", sent + "{await: {function: Shipp}}", "", "when[1].await.function", "Ship"},
		{"", "", sent + "{await: {kind: atempt_ended}}", "", "when[1].await.kind", "attempt_ended"},
		{"", "", sent + "{await: {settled: deletd}}", "", "when[1].await.settled", "deleted"},
		{"", "", "{expireLocks: oders}", "", "when[0].expireLocks", "orders"},
		{"", "", "{expireLocks: news/al}", "", "when[0].expireLocks", "news/Subscriptions/all"},
		{"", "", "{remove: Shp}", "", "when[0].remove", "Ship"},
		{"", "", "{remove: Ship/functoin.json}", "", "when[0].remove", "Ship/function.json"},
		{"", "", "{crash: {function: Shp, point: afterHandler}}", "", "when[0].crash.function", "Ship"},
		{"", "", "{crash: {function: Ship, point: afterHandlr}}", "", "when[0].crash.point", "afterHandler"},
		{"", "", "{crash: {instance: 3}}", "", "when[0]", "scaleOut starts another one"},
		{"", "", "{scaleIn: 3}", "", "when[0]", "scaleOut starts another one"},
		{"", "", "{fault: {queue: parcells, operation: Put, required: false}}", "", "when[0].fault.queue", "parcels"},
		{"", "", "{fault: {queue: parcels, operation: Dlete, required: false}}", "", "when[0].fault", "Delete"},
		{"", "", "{fault: {container: pix, required: false}}", "", "when[0].fault.container", "pics"},
		{"", "", "{fault: {serviceBus: oders, required: false}}", "", "when[0].fault.serviceBus", "orders"},
		{"", "", "{fault: {eventHub: readngs, required: false}}", "", "when[0].fault.eventHub", "readings"},
		{"", "", "{fault: {cosmos: shop/order, required: false}}", "", "when[0].fault.cosmos", "shop/orders"},
		{"", "", "{fault: {eventGrid: shpo/indx, required: false}}", "", "when[0].fault.eventGrid", "shop/index"},
		{"", "", "{fault: {handler: Shp, required: false}}", "", "when[0].fault.handler", "Ship"},
		{"", "", "{fault: {output: Ship/lgo, required: false}}", "", "when[0].fault.output", "Ship/log"},
		{"", "", "{fault: {output: Shp, required: false}}", "", "when[0].fault.output", "Ship"},
		// Expectations.
		{"", "", "", "functions: {Shp: {attempts: 0}}", "then.functions.Shp", "Ship"},
		{"", "", sent, "functions: {Ship: {settled: deletd}}", "then.functions.Ship.settled", "deleted"},
		{"", "", sent, "functions: {Ship: {ends: [deletd]}}", "then.functions.Ship.ends[0]", "deleted"},
		{"", "", sent, "functions: {Ship: {attempts: [{status: suceeded}]}}", "then.functions.Ship.attempts[0].status", "succeeded"},
		{"", "", "", "serviceBus: {oders: 0}", "then.serviceBus.oders", "orders"},
		{"", "", "", "serviceBus: {orders/$DeadLeterQueue: 0}", "then.serviceBus.orders/$DeadLeterQueue", "orders/$DeadLetterQueue"},
		{"", "", "", "serviceBus: {news/al: 0}", "then.serviceBus.news/al", "news/Subscriptions/all"},
		{"", "", "", "queues: {parcels-poizon: 0}", "then.queues.parcels-poizon", "parcels-poison"},
		{"", "", "", "hidden: {parcells: 0}", "then.hidden.parcells", "parcels"},
		{"", "", "", "blobs: {pix/a: null}", "then.blobs.pix/a", "pics"},
		{"", "", "", "containers: {pix: []}", "then.containers.pix", "pics"},
		{"", "", "", "cosmos: {shop/order: 0}", "then.cosmos.shop/order", "shop/orders"},
		{"", "", "", "checkpoints: {readngs/$Default/0: null}", "then.checkpoints.readngs/$Default/0", "readings"},
		{"", "", "", "checkpoints: {readings/$Defalt/0: null}", "then.checkpoints.readings/$Defalt/0", "readings/$Default"},
		{"", "", "", "checkpoints: {readings/$Default/9: null}", "then.checkpoints.readings/$Default/9", "readings/0"},
		{"", "", "", "outputs: {Ship/mial: []}", "then.outputs.Ship/mial", "Ship/mail"},
		{"", "", "", "outputs: {Shp/mail: []}", "then.outputs.Shp/mail", "Ship/mail"},
		{"", "", "", "outputs: {Ship/log: []}", "then.outputs.Ship/log", "are not recorded"},
		{"", "", sent, "journal: [{kind: settled, eror: null}]", "then.journal[0].eror", "error"},
		{"", "", sent, "journal: [{kind: setled}]", "then.journal[0].kind", "settled"},
		{"", "", sent, "journal: [{function: Shp}]", "then.journal[0]", "Ship"},
		{"", "", sent, "journal: [{kind: settled, source: parcells}]", "then.journal[0]", "parcels"},
		{"", "", sent + "{expect: {journal: [{decision: deletd}]}}", "", "when[1].expect.journal[0]", "deleted"},
	} {
		t.Run(test.path+" "+test.meant, func(t *testing.T) {
			t.Parallel()
			if !strings.Contains(app, test.replace) {
				t.Fatalf("the app has no %q", test.replace)
			}
			then := test.then
			if then == "" {
				then = "functions: {Bus: {attempts: 0}}"
			}
			text := strings.Replace(app, test.replace, test.by, 1) + "when: [" + strings.TrimSuffix(test.steps, ", ") + "]\nthen: {" + then + "}\n"
			got := inFolder(t, map[string]string{"a.scenario.yaml": text})
			for _, want := range []string{"a.scenario.yaml:", test.path + ": ", test.meant} {
				if !strings.Contains(got, want) {
					t.Errorf("got  %q\nwant %q in it", got, want)
				}
			}
		})
	}
	t.Run("none of them", func(t *testing.T) { // the app of the table is right
		t.Parallel()
		if got := inFolder(t, map[string]string{"a.scenario.yaml": app + "when: [{send: {queue: parcels, body: x}}]\nthen: {functions: {Ship: {attempts: 1}}, outputs: {Ship/mail: []}}"}); got != "" {
			t.Error(got)
		}
	})
}

// What may be absent says so.
func TestAbsentNames(t *testing.T) {
	t.Parallel()
	const app = "entities: {serviceBus: {queues: {plain: null}}}\nfunctions: {Ship: {trigger: {type: queueTrigger, queueName: parcels}, handler: succeed}}\n"
	for name, test := range map[string]struct{ then, want string }{
		"nowhere":  {"functions: {Shp: {exists: false}}, queues: {a: {exists: false}}, hidden: {a: {exists: false}}, containers: {a: {exists: false}}, cosmos: {a/b: {exists: false}}, serviceBus: {a: {exists: false}, plain/$DeadLeter: {exists: false}}", ""},
		"function": {"functions: {Ship: {exists: false}}", "then.functions.Ship.exists: the app has a function \"Ship\""},
		"entity":   {"serviceBus: {plain: {exists: false}}", "then.serviceBus.plain: there is a Service Bus entity \"plain\""},
		"queue":    {"queues: {parcels: {exists: false}}", "there is a queue"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := inFolder(t, map[string]string{"a.scenario.yaml": app + "when: [{send: {queue: parcels, body: x}}]\nthen: {" + test.then + "}\n"})
			if test.want == "" && got != "" || !strings.Contains(got, test.want) {
				t.Errorf("got  %q\nwant %q in it", got, test.want)
			}
		})
	}
}
