package scenario_test

import (
	"strings"
	"testing"
)

// A message is one by its service, entity, id and number: what happens to another one of
// the same id is not told of it, and each member of a batch is one.
func TestEndsAreOfOneMessage(t *testing.T) {
	t.Parallel()
	const (
		bus    = "functions:\n  Ship: {trigger: {type: serviceBusTrigger, queueName: parcels}, handler: %}\nwhen:\n"
		batch  = "entities: {serviceBus: {queues: {parcels: {maxDeliveryCount: 2}}}}\nfunctions:\n  Ship: {trigger: {type: serviceBusTrigger, queueName: parcels, cardinality: many}, handler: %}\nwhen:\n"
		topics = "host: {redeliver: {eventGrid: {topics: [{name: shop, subscriptions: [{name: i, function: A, maxDeliveryAttempts: 1}]}, {name: mall, subscriptions: [{name: i, function: B}]}]}}}\n" +
			"functions: {A: {trigger: {type: eventGridTrigger}, handler: fail}, B: {trigger: {type: eventGridTrigger}, handler: succeed}}\nwhen:\n"
	)
	with := func(app, handler string) string { return strings.Replace(app, "%", handler, 1) }
	for name, text := range map[string]string{
		"subscriptions of one name": topics +
			"- publish: {topic: mall, events: [{id: e}]}\n- publish: {topic: shop, events: [{id: e}]}\n" +
			"then: {functions: {A: {ends: [dropped]}, B: {ends: [responded]}}}",
		"members of a batch": with(batch, "[{do: fail, match: a, take: 10s}]") +
			"- send: {serviceBus: parcels, body: a}\n- advance: 15s\n- send: {serviceBus: parcels, bodies: [b, c]}\n" +
			"then: {functions: {Ship: {ends: [dead_lettered, completed, completed]}}}",
		"all members fail": with(batch, "[{do: succeed, match: w, take: 1s}, {do: fail}]") +
			"- send: {serviceBus: parcels, body: w}\n- send: {serviceBus: parcels, bodies: [b, c]}\n" +
			"then: {invariants: true, functions: {Ship: {ends: [completed, dead_lettered, dead_lettered]}}}",
		"a member expires": with(batch, "{do: succeed, take: 20s}") +
			"- send: {serviceBus: parcels, body: a}\n- send: {serviceBus: parcels, bodies: [b, c]}\n- send: {serviceBus: parcels, body: lost, timeToLive: 10s}\n" +
			"then: {invariants: true, functions: {Ship: {ends: [completed, completed, completed]}}}",
		"two of one id at once": with(bus, "[{do: deadLetter, match: bad, reason: R, take: 20s}, {do: succeed, take: 10s}]") +
			"- send: {serviceBus: parcels, bodies: [good, bad], messageId: m}\n" +
			"then: {invariants: true, functions: {Ship: {ends: [completed, dead_lettered]}}}",
		"scripts count for each of one id": with(bus, "[{do: fail, times: 1}]") +
			"- send: {serviceBus: parcels, body: x, messageId: m}\n- send: {serviceBus: parcels, body: x, messageId: m}\n" +
			"then: {functions: {Ship: {attempts: 4, deliveries: 4}}}",
		"events of two steps": topics +
			"- publish: {topic: shop, events: [{subject: x}]}\n- publish: {topic: shop, events: [{subject: y}]}\n" +
			"then: {invariants: true, functions: {A: {ends: [dropped, dropped]}}}",
		"a queue and an entity": "functions:\n  Ship: {trigger: {type: serviceBusTrigger, queueName: parcels}}\n  Take: {trigger: {type: queueTrigger, queueName: parcels}}\nwhen:\n" +
			"- send: {queue: parcels, bodies: [1, 2]}\n- send: {serviceBus: parcels, bodies: [1, 2]}\n" +
			"then: {invariants: true, functions: {Ship: {ends: [completed, completed]}, Take: {ends: [deleted, deleted]}}}",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := inFolder(t, map[string]string{"a.scenario.yaml": text}); got != "" {
				t.Error(got)
			}
		})
	}
}

// What holds in every run holds for duplicates, expired and forwarded messages, too.
func TestInvariantsOfRightRuns(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"a duplicate":                          "functions: {S: {trigger: {type: serviceBusTrigger, queueName: p}}}\nwhen: [{send: {serviceBus: p, bodies: [a, a], messageId: m}}]",
		"subscriptions":                        "functions: {A: {trigger: {type: serviceBusTrigger, topicName: t, subscriptionName: a}}, B: {trigger: {type: serviceBusTrigger, topicName: t, subscriptionName: b}, handler: fail}}\nwhen: [{send: {serviceBus: t, body: a, messageId: m}}]",
		"expired":                              "functions: {S: {trigger: {type: serviceBusTrigger, queueName: p}}}\nwhen: [{send: {serviceBus: p, body: a, delay: 1h, timeToLive: 10s}}]",
		"forwarded":                            "entities: {serviceBus: {queues: {a: {forwardTo: b}, b: {maxDeliveryCount: 2}}}}\nfunctions: {S: {trigger: {type: serviceBusTrigger, queueName: b}, handler: fail}}\nwhen: [{send: {serviceBus: a, body: w}}]",
		"events by twos":                       "host: {redeliver: {eventGrid: {topics: [{name: shop, subscriptions: [{name: a, function: A, maxDeliveryAttempts: 2}]}]}}}\nfunctions: {A: {trigger: {type: eventGridTrigger}, handler: fail}}\nwhen: [{publish: {topic: shop, events: [{id: x}, {id: x}]}}, {publish: {topic: shop, events: [{id: x}]}}]",
		"forwarded dead letters":               "entities: {serviceBus: {queues: {graves: {}, b: {maxDeliveryCount: 2, forwardDeadLetteredMessagesTo: graves}}}}\nfunctions: {S: {trigger: {type: serviceBusTrigger, queueName: b}, handler: fail}}\nwhen: [{send: {serviceBus: b, body: w}}]",
		"of a dead queue":                      "functions: {S: {trigger: {type: serviceBusTrigger, queueName: b}, handler: fail}, D: {trigger: {type: serviceBusTrigger, queueName: b/$DeadLetterQueue}}}\nwhen: [{send: {serviceBus: b, body: w}}]",
		"of a dead queue whose function fails": "functions: {S: {trigger: {type: serviceBusTrigger, queueName: b}, handler: {do: deadLetter, reason: R}}, D: {trigger: {type: serviceBusTrigger, queueName: b/$DeadLetterQueue}, handler: [{do: fail, times: 3}]}}\nwhen: [{send: {serviceBus: b, body: a}}]",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := inFolder(t, map[string]string{"a.scenario.yaml": text + "\nthen: {invariants: true}"}); got != "" {
				t.Error(got)
			}
		})
	}
}
