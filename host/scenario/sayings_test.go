package scenario_test

import (
	"strings"
	"testing"
)

// What operators do to messages, parts of bodies, hubs, headers, late ticks and instances can
// be said; and what is not so is a failure.
func TestSayings(t *testing.T) {
	t.Parallel()
	type wrong struct{ replace, by, want string }
	for _, test := range []struct {
		text  string
		wrong []wrong
	}{
		{`name: redrive queue
functions:
  Ship: {trigger: {type: queueTrigger, queueName: orders}, handler: [{do: fail, times: 5}]}
when:
  - send: {queue: orders, body: {id: 7, more: yes}}
  - settle: true
  - expect: {queues: {orders-poison: [{contains: {id: 7}}]}, functions: {Ship: {ends: poisoned}}}
  - redrive: {queue: orders-poison}
then:
  functions: {Ship: {attempts: 6}}
  queues: {orders-poison: 0}
  nothingElse: true
`, []wrong{
			{"{queue: orders-poison}\nthen", "{queue: orders-poison, messageId: none}\nthen", "when[3].redrive: "},
			{"redrive: {queue: orders-poison}", "redrive: {queue: orders-poizon}", "when[3].redrive.queue: there is no queue \"orders-poizon\""},
			{"redrive: {queue: orders-poison}", "redrive: {queue: orders}", "when[3].redrive: queue \"orders\" is not a poison queue"},
			{"redrive: {queue: orders-poison}", "redrive: {to: orders}", "when[3].redrive: the step names 0 places; allowed: one of eventGrid, queue, serviceBus"},
			{"times: 5", "times: 4", "functions.Ship.ends"},
			{"attempts: 6", "attempts: 10", "then.functions.Ship.attempts"},
			{"{contains: {id: 7}}", "{contains: {id: 8}}", "when[2].expect.queues.orders-poison"},
			{"{contains: {id: 7}}", "{contains: {}}", "when[2].expect.queues.orders-poison[0].contains: it expects nothing"},
		}},
		{`name: redrive bus
functions:
  Ship: {trigger: {type: serviceBusTrigger, queueName: orders}, handler: [{do: fail, times: 10}]}
when:
  - send: {serviceBus: orders, body: {id: 7}, messageId: m}
  - settle: true
  - expect: {serviceBus: {orders/$DeadLetterQueue: [{body: {contains: id}, messageId: m}]}}
  - redrive: {serviceBus: orders, messageId: m}
then:
  functions: {Ship: {attempts: 11}}
  invariants: true
  nothingElse: true
`, []wrong{
			{"messageId: m}\nthen", "messageId: n}\nthen", "when[3].redrive: there is nothing to redrive there"},
			{"redrive: {serviceBus: orders,", "redrive: {serviceBus: orders, queue: orders-poison,", "when[3].redrive: "},
			{"attempts: 11", "attempts: 20", "then.functions.Ship.attempts"},
			{"{contains: id}", "{contains: di}", "when[2].expect.serviceBus"},
		}},
		{`name: redrive grid
host: {redeliver: {eventGrid: {topics: [{name: shop, subscriptions: [{name: index, function: OnOrder, deadLetterContainer: dead, maxDeliveryAttempts: 4}]}]}}}
entities: {containers: [dead]}
functions:
  OnOrder: {trigger: {type: eventGridTrigger}, handler: [{do: fail, times: 4}]}
when:
  - publish: {topic: shop, events: [{subject: /orders/7}]}
  - settle: true
  - expect: {containers: {dead: [/^INDEX.*json$/]}}
  - redrive: {eventGrid: shop/index}
then:
  functions: {OnOrder: {attempts: 5}}
  containers: {dead: []}
  nothingElse: true
`, []wrong{
			{"eventGrid: shop/index", "eventGrid: shop/indx", "did you mean \"shop/index\"?"},
			{"dead: [/^INDEX.*json$/]", "dead: 2", "when[2].expect.containers.dead: container \"dead\" holds other blobs\n  want  2"},
			{"  - settle: true\n", "", "is nothing to redrive there"},
			{"dead: [/^INDEX.*json$/]", "dead: [/^INDEX.*jsn$/]", "when[2].expect.containers.dead"},
		}},
		{`name: purge, dead-letter and cancel
functions:
  Ship: {trigger: {type: serviceBusTrigger, queueName: orders}, handler: succeed}
entities: {queues: [idle], containers: [box], cosmos: [a/b], serviceBus: {queues: {rest: {}}}}
when:
  - send: {queue: idle, bodies: [a, b]}
  - upload: {blob: box/x, body: y}
  - write: {container: a/b, documents: [{id: "1"}]}
  - send: {serviceBus: rest, body: a, messageId: m1}
  - send: {serviceBus: rest, body: b, messageId: m2}
  - send: {serviceBus: orders, body: later, messageId: m3, delay: 1h}
  - purge: {queue: idle}
  - purge: {container: box}
  - purge: {cosmos: a/b}
  - deadLetter: {serviceBus: rest, messageId: m2, reason: Old, description: too old}
  - purge: {serviceBus: rest}
  - cancel: {serviceBus: orders, messageId: m3}
then:
  queues: {idle: 0}
  serviceBus: {"rest/$DeadLetterQueue": [{body: b, reason: Old, description: too old}], rest: 0}
  containers: {box: []}
  cosmos: {a/b: 0}
  functions: {Ship: {attempts: 0}}
  invariants: true
  nothingElse: true
`, []wrong{
			{"  - purge: {queue: idle}\n", "  - purge: {queue: idle}\n  - purge: {queue: idle}\n", "when[7].purge: there is nothing to purge there"},
			{"  - purge: {queue: idle}\n", "", "then.queues.idle"},
			{"  - purge: {container: box}\n", "", "then.containers.box"},
			{"  - purge: {cosmos: a/b}\n", "", "then.cosmos.a/b"},
			{"  - cancel: {serviceBus: orders, messageId: m3}\n", "", "then.functions.Ship.attempts"},
			{"cancel: {serviceBus: orders, messageId: m3}", "cancel: {serviceBus: rest}", "when[11].cancel: there is nothing to cancel there"},
			{"reason: Old, description: too old}\n", "reason: Young}\n", "then.serviceBus"},
			{"deadLetter: {serviceBus: rest, messageId: m2", "deadLetter: {serviceBus: rest, messageId: m9", "when[9].deadLetter: there is nothing to dead-letter there"},
			{"purge: {queue: idle}", "purge: {queue: idel}", "did you mean \"idle\"?"},
			{"purge: {queue: idle}", "purge: {}", "when[6].purge: "},
			{"purge: {container: box}", "purge: {container: boxx}", "did you mean \"box\"?"},
			{"purge: {cosmos: a/b}", "purge: {cosmos: a/c}", "when[8].purge.cosmos: there is no Cosmos DB container"},
		}},
		{`name: hubs
functions:
  Meter: {trigger: {type: eventHubTrigger, eventHubName: readings, cardinality: one}, bindings: [{type: eventHub, direction: out, name: out, eventHubName: totals}], handler: {outputs: {out: sum}}}
when:
  - sendEvents: {eventHub: readings, partition: 1, bodies: [a, b]}
then:
  eventHubs: {readings: [a, b], readings/1: 2, readings/0: 0, totals: [{contains: um}, sum]}
  functions: {Meter: {attempts: [{body: a, instance: 1}, {body: {contains: b}}]}}
  nothingElse: true
`, []wrong{
			{"partition: 1", "partition: 9", "when[0].sendEvents.partition: there is no partition \"readings/9\""},
			{"partition: 1", "partition: 1, key: k", "when[0].sendEvents.partition: "},
			{"readings: [a, b]", "readings: [b, a]", "then.eventHubs.readings"},
			{"readings/1: 2", "readings/1: 1", "then.eventHubs.readings/1: partition \"readings/1\" holds another number"},
			{"readings/1: 2", "readngs/1: 2", "did you mean \"readings/1\"?"},
			{"totals: [{contains: um}, sum]", "totls: 0", "did you mean \"totals\"?"},
			{", totals: [{contains: um}, sum]", "", "then.nothingElse: event hub \"totals\" holds events that no step has sent\n  want  none"},
			{"{body: a, instance: 1}", "{body: a, instance: 2}", "then.functions.Meter.attempts[0].instance"},
			{"{body: {contains: b}}", "{body: {contains: c}}", "then.functions.Meter.attempts[1].body"},
		}},
		{`name: headers
functions:
  Ask: {trigger: {type: httpTrigger, authLevel: anonymous, methods: [get]}, handler: {body: {a: 1, b: 2}}}
when:
  - request: {path: /api/Ask, headers: {X-One: two}, expect: {status: 200, headers: {Content-Type: /json|text/, Location: null}, body: {contains: {a: 1}}}}
then: {functions: {Ask: {attempts: 1}}}
`, []wrong{
			{"Content-Type: /json|text/", "Content-Type: null", "the answer has a header Content-Type"},
			{"/json|text/", "/xml/", "the answer has another header Content-Type"},
			{"Location: null", "Location: here", "the answer has no header Location"},
			{"Location: null", "Location: here", "the answer has no header Location"},
			{"{a: 1}}", "{a: 2}}", "when[0].request.expect.body"},
			{"headers: {Content-Type: /json|text/, Location: null}", "headers: {}", "it expects nothing"},
		}},
		{`name: timer
start: 2030-01-01T00:30:00Z
functions:
  Tick: {trigger: {type: timerTrigger, schedule: "0 0 * * * *"}, handler: {log: tick}}
when:
  - advance: 45m
  - crash: true
  - jump: 3h
  - start: true
  - advance: 1m
then: {functions: {Tick: {attempts: [{isPastDue: false}, {isPastDue: true}, {}]}}}
`, []wrong{
			{"{isPastDue: true}", "{isPastDue: false}", "then.functions.Tick.attempts[1].isPastDue"},
		}},
		{`name: instances and batches
functions:
  Ship: {trigger: {type: serviceBusTrigger, queueName: orders, cardinality: many}, handler: {take: 5s}}
when:
  - scaleOut: true
  - send: {serviceBus: orders, body: a, messageId: m0}
  - send: {serviceBus: orders, body: b, messageId: m1}
  - send: {serviceBus: orders, body: c, messageId: m2}
then: {functions: {Ship: {attempts: [{messageId: [m0], body: [a], instance: 1}, {messageId: m1}, {messageId: [m2], body: [{contains: c}]}]}}}
`, []wrong{
			{"instance: 1", "instance: 2", "then.functions.Ship.attempts[0].instance"},
			{"{messageId: m1}", "{messageId: m2}", "then.functions.Ship.attempts[1].messageId"},
			{"body: [{contains: c}]", "body: [c, d]", "then.functions.Ship.attempts[2].body"},
		}},
	} {
		name, _, _ := strings.Cut(strings.TrimPrefix(test.text, "name: "), "\n")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := inFolder(t, map[string]string{"a.scenario.yaml": test.text}); got != "" {
				t.Errorf("right: %s", got)
			}
			for _, w := range test.wrong {
				if !strings.Contains(test.text, w.replace) {
					t.Errorf("no %q in the text", w.replace)
				}
				got := inFolder(t, map[string]string{"a.scenario.yaml": strings.Replace(test.text, w.replace, w.by, 1)})
				if !strings.Contains(got, w.want) {
					t.Errorf("%q for %q:\ngot  %q\nwant %q in it", w.by, w.replace, got, w.want)
				}
			}
		})
	}
}

// Blobs, documents and events that no step has put there are something else; those of steps
// are not, as long as they are as the steps have left them.
func TestNothingElse(t *testing.T) {
	t.Parallel()
	const app = `entities: {containers: [box], cosmos: [shop/log], eventHubs: [totals]}
functions:
  Ship:
    trigger: {type: queueTrigger, queueName: parcels}
    bindings:
      - {type: blob, direction: out, name: copy, path: box/copy.txt}
      - {type: cosmosDB, direction: out, name: doc, databaseName: shop, containerName: log}
      - {type: eventHub, direction: out, name: event, eventHubName: totals}
    handler: %
  Feed: {trigger: {type: cosmosDBTrigger, databaseName: shop, containerName: log, createLeaseContainerIfNotExists: true}, handler: succeed}
when:
  - upload: {blob: box/copy.txt, body: old}
  - write: {container: shop/log, documents: [{id: "1", n: 1}]}
  - sendEvents: {eventHub: totals, bodies: [first]}
  - send: {queue: parcels, body: x}
then:
  functions: {Ship: {attempts: 1}, Feed: {ends: checkpointed}}
  nothingElse: true
`
	for name, test := range map[string]struct{ handler, also, want string }{
		"what steps have put":  {"succeed", "", ""},
		"a blob that is other": {"{outputs: {copy: new}}", "", "then.nothingElse: container \"box\" holds blobs that no step has written so\n  want  none\n  got   \"box/copy.txt\""},
		"a blob by its name":   {"{outputs: {copy: new}}", "blobs: {box/copy.txt: new}, ", ""},
		"blobs by number":      {"{outputs: {copy: new}}", "containers: {box: 1}, ", ""},
		"a document":           {"{outputs: {doc: {id: '2'}}}", "", "then.nothingElse: container \"shop/log\" holds documents that no step has written so"},
		"a document by name":   {"{outputs: {doc: {id: '2'}}}", "cosmos: {shop/log: 2}, ", ""},
		"a changed document":   {"{outputs: {doc: {id: '1', n: 2}}}", "", "holds documents that no step has written so"},
		"an event":             {"{outputs: {event: first}}", "", "then.nothingElse: event hub \"totals\" holds events that no step has sent\n  want  none\n  got   \"first\""},
		"an event by name":     {"{outputs: {event: second}}", "eventHubs: {totals: [first, second]}, ", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := strings.Replace(app, "%", test.handler, 1)
			if test.also != "" {
				text = strings.Replace(text, "then:\n", "then:\n  "+strings.TrimSuffix(test.also, ", ")+"\n", 1)
			}
			got := inFolder(t, map[string]string{"a.scenario.yaml": text})
			if test.want == "" && got != "" || !strings.Contains(got, test.want) {
				t.Errorf("got  %q\nwant %q in it", got, test.want)
			}
		})
	}
}
