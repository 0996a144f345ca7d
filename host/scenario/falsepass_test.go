package scenario_test

import (
	"strconv"
	"strings"
	"testing"
)

// Scenarios that look right and prove nothing fail: each was green once.
func TestFalsePasses(t *testing.T) {
	t.Parallel()
	const (
		parcels = "functions: {Ship: {trigger: {type: queueTrigger, queueName: parcels}, bindings: [{type: queue, direction: out, name: log, queueName: log}], handler: succeed}}\n"
		pair    = "functions: {Ship: {trigger: {type: queueTrigger, queueName: parcels}, handler: succeed}, Other: {trigger: {type: queueTrigger, queueName: others}, handler: succeed}}\n"
		asked   = "functions: {Ask: {trigger: {type: httpTrigger, authLevel: anonymous, methods: [post]}, handler: {status: 201, body: hello}}}\n"
		sent    = "{send: {queue: parcels, body: x}}"
		grid    = "host: {redeliver: {eventGrid: {topics: [{name: shop, subscriptions: [{name: i, function: A, deadLetterContainer: dead, maxDeliveryAttempts: 2}, {name: j, function: B}]}, {name: mall, subscriptions: [{name: i, function: C}]}, {name: hall, subscriptions: [{name: i, function: D, maxDeliveryAttempts: 1}]}]}}}\n" +
			"entities: {containers: [dead]}\nfunctions: {A: {trigger: {type: eventGridTrigger}, handler: fail}, B: {trigger: {type: eventGridTrigger}, handler: succeed}, C: {trigger: {type: eventGridTrigger}, handler: succeed}, D: {trigger: {type: eventGridTrigger}, handler: fail}}\n" +
			"when: [{publish: {topic: mall, events: [{id: e}]}}, {publish: {topic: hall, events: [{id: e}]}}, {publish: {topic: shop, events: [{id: e}]}}]\n"
		once = "then: {functions: {Ship: {attempts: 1}}}\n"
	)
	for name, test := range map[string]struct{ text, want string }{
		"an output fault that nothing meets": {parcels + "when: [{fault: {output: Ship/log, times: 3}}]\nthen: {functions: {Ship: {attempts: 0}}}", "when[0].fault: the fault still waits: output \"Ship/log\" was not written"},
		"a start without a crash":            {parcels + "when: [" + sent + ", {start: true}]\n" + once, "no crash was asked for"},
		"a fault of all outputs":             {parcels + "when: [{fault: {output: Ship}}]\nthen: {functions: {Ship: {attempts: 0}}}", "when[0].fault: the fault still waits: output \"Ship\" was not written"},
		"a fault of no operation":            {parcels + "when: [{fault: {operation: Dlete, queue: parcels}}, " + sent + "]\n" + once, `queue has no operation "Dlete"; did you mean "Delete"?`},
		"a fault for a while":                {parcels + "when: [{fault: {operation: ReleaseMessage, queue: parcels, for: 10m}}, " + sent + "]\n" + once, "when[0].fault: the fault was for nothing"},
		"a fault for a while, of elsewhere":  {parcels + "when: [{fault: {queue: parcells, for: 10m}}, " + sent + ", {advance: 1h}]\n" + once, "when[0].fault.queue: there is no queue \"parcells\""},
		"a fault that only takes time":       {parcels + "when: [{fault: {operation: ReleaseMessage, queue: parcels, latency: 1m}}, " + sent + "]\n" + once, "when[0].fault: the fault still waits"},
		"a fault beside invariants":          {parcels + "when: [{fault: {operation: ReleaseMessage, queue: parcels, times: 3}}, " + sent + "]\nthen: {invariants: true}", "when[0].fault: the fault still waits"},
		"a fault that only the kit meets":    {parcels + "when: [{fault: {operation: Peek, queue: '*'}}, " + sent + "]\nthen: {functions: {Ship: {attempts: 1}}, queues: {parcels: 0}}", "when[0].fault: the fault still waits"},
		"a crash before another one":         {pair + "when: [{crash: {function: Other, point: afterHandler}}, {crash: {function: Ship, point: afterHandler}}, " + sent + ", {start: true}]\nthen: {functions: {Ship: {attempts: 2}}}", "when[1]: the crash of when[0] is still to come"},
		"a crash that never comes":           {pair + "when: [{crash: {function: Other, point: afterHandler}}, " + sent + "]\n" + once, "when[0]: "},
		"a delivery without an attempt":      {"functions: {Ship: {trigger: {type: serviceBusTrigger, queueName: parcels}, handler: succeed}}\nwhen: [{crash: {function: Ship, point: afterReceive}}, {send: {serviceBus: parcels, body: x}}, {start: true}]\nthen: {functions: {Ship: {attempts: [{deliveryCount: 2}], deliveries: 1}}}", "then.functions.Ship.deliveries: Ship had another number of deliveries\n  want  1\n  got   2"},
		"an error by its hidden prefix":      {strings.Replace(parcels, "succeed", "{do: poison, error: card refused}", 1) + "when: [" + sent + "]\nthen: {functions: {Ship: {attempts: [{error: '(?i)error'}]}}}", "then.functions.Ship.attempts[0].error"},
		"an error of an attempt without one": {parcels + "when: [" + sent + "]\nthen: {functions: {Ship: {attempts: [{error: 'x*'}]}}}", "then.functions.Ship.attempts[0].error"},
		"a request that is refused":          {asked + "when: [{request: {path: /api/Ask}}]\nthen: {functions: {Ask: {attempts: 0}}}", "when[0].request: the answer is an error, which no expect asks for\n  want  a status below 400\n  got   404"},
		"a request to a host that is down":   {asked + "when: [{crash: true}, {request: {method: POST, path: /api/Ask}}]\nthen: {functions: {Ask: {attempts: 0}}}", "when[1].request: the answer is an error"},
		"a request that fails":               {strings.Replace(asked, "{status: 201, body: hello}", "fail", 1) + "when: [{request: {method: POST, path: /api/Ask}}]\nthen: {functions: {Ask: {attempts: 1}}}", "when[0].request: the answer is an error"},
		"another range of statuses":          {asked + "when: [{request: {method: POST, path: /api/Ask, expect: {status: 400..599}}}]\nthen: {functions: {Ask: {attempts: 1}}}", "when[0].request.expect.status: the answer has another status\n  want  400..599\n  got   201"},
		"nothing is expected":                {parcels + "when: [" + sent + "]\nthen: {}", "then: it expects nothing"},
		"nothing is expected of a function":  {parcels + "then: {functions: {Ship: {}}}", "then.functions.Ship: "},
		"no function is named":               {parcels + "then: {functions: {}}", "then.functions: "},
		"no queue is named":                  {parcels + "then: {queues: {}}", "then.queues: "},
		"nothing is expected in between":     {parcels + "when: [{expect: {}}]\n" + strings.Replace(once, "1", "0", 1), "when[0].expect: it expects nothing"},
		"32 of 40 messages":                  {strings.Replace(parcels, "succeed", "poison", 1) + "when: [{send: {queue: parcels, bodies: [" + numbers(40) + "]}}]\nthen: {queues: {parcels-poison: 32}}", "holds another number of messages\n  want  32\n  got   40"},
		"256 of 300 dead letters":            {"functions: {Ship: {trigger: {type: serviceBusTrigger, queueName: parcels}, handler: {do: deadLetter, reason: R}}}\nwhen: [{send: {serviceBus: parcels, bodies: [" + numbers(300) + "]}}]\nthen: {serviceBus: {parcels/$DeadLetterQueue: 256}}", "holds another number of messages\n  want  256\n  got   300"},
		"the end at another subscription":    {grid + "then: {functions: {B: {attempts: 1, ends: dead_lettered}}}", "then.functions.B.ends: messages of B ended otherwise\n  want  each dead_lettered\n  got   responded"},
		"the end in another topic":           {grid + "then: {functions: {C: {attempts: 1, ends: dropped}}}", "then.functions.C.ends: messages of C ended otherwise"},
		"the end of a batch's first member":  {"functions: {Ship: {trigger: {type: serviceBusTrigger, queueName: parcels, cardinality: many}, handler: [{do: fail, match: lost, take: 10s}, {do: succeed, take: 1s}]}}\nwhen: [{send: {serviceBus: parcels, body: warm}}, {send: {serviceBus: parcels, body: a}}, {send: {serviceBus: parcels, body: lost, timeToLive: 15s}}]\nthen: {functions: {Ship: {ends: completed}}}", "then.functions.Ship.ends: messages of Ship ended otherwise\n  want  each completed"},
		"two ends of four members":           {"functions: {Ship: {trigger: {type: serviceBusTrigger, queueName: parcels, cardinality: many}, handler: succeed}}\nwhen: [{send: {serviceBus: parcels, body: a}}, {send: {serviceBus: parcels, bodies: [b, c, d]}}]\nthen: {functions: {Ship: {ends: [completed, completed]}}}", "want  2 x completed\n  got   4 x completed"},
		"the end of another of one ID":       {"functions: {Ship: {trigger: {type: serviceBusTrigger, queueName: parcels}, handler: [{do: deadLetter, match: bad, reason: R, take: 1s}, {do: succeed, take: 10s}]}}\nwhen: [{send: {serviceBus: parcels, bodies: [bad, good], messageId: m}}]\nthen: {functions: {Ship: {attempts: 2, ends: dead_lettered}}}", "want  each dead_lettered\n  got   dead_lettered, completed"},
		"the end in another service":         {"entities: {queues: [unread]}\nfunctions: {Bus: {trigger: {type: serviceBusTrigger, queueName: parcels}, handler: succeed}}\nwhen: [{send: {queue: unread, body: a, timeToLive: 10s}}, {send: {serviceBus: parcels, body: b}}]\nthen: {functions: {Bus: {attempts: 1, ends: expired}}}", "then.functions.Bus.ends: messages of Bus ended otherwise"},
		"an action for no message":           {strings.Replace(parcels, "succeed", "[{do: fail, match: parsel}, {do: succeed}]", 1) + "when: [" + sent + "]\n" + once, "functions.Ship.handler[0].match: no message of Ship matches: the action was never done\n  want  parsel"},
		"an action of no list":               {strings.Replace(parcels, "succeed", "{do: fail, match: parsel}", 1) + "when: [" + sent + "]\n" + once, "functions.Ship.handler.match: no message of Ship matches"},
		"an action behind one that stays":    {strings.Replace(parcels, "succeed", "[{do: succeed}, {do: fail}]", 1) + "when: [" + sent + "]\n" + once, "functions.Ship.handler[1]: no attempt comes to this action"},
		"an action without a chance":         {strings.Replace(parcels, "succeed", "{do: fail, chance: 0}", 1) + "when: [" + sent + "]\n" + once, "functions.Ship.handler.chance: "},
		"an action for every message":        {strings.Replace(parcels, "succeed", "{do: fail, match: ''}", 1) + "when: [" + sent + "]\n" + once, "functions.Ship.handler.match: "},
		"an error that any text matches":     {strings.Replace(parcels, "succeed", "poison", 1) + "when: [" + sent + "]\nthen: {functions: {Ship: {attempts: [{error: ''}]}}}", "then.functions.Ship.attempts[0].error: "},
		"no steps":                           {parcels + "then: {functions: {Ship: {attempts: 0}}, queues: {parcels-poison: 0}}", "then: the scenario has no steps and no function was called"},
		"an empty list of steps":             {parcels + "when: []\nthen: {nothingElse: true}", "then: the scenario has no steps and no function was called"},
		"no messages are sent":               {parcels + "when: [{send: {queue: parcels, bodies: []}}]\nthen: {queues: {parcels-poison: 0}}", "when[0].send.bodies: "},
		"no events are sent":                 {"functions: {Read: {trigger: {type: eventHubTrigger, eventHubName: readings}, handler: succeed}}\nwhen: [{sendEvents: {eventHub: readings, bodies: []}}]\nthen: {functions: {Read: {attempts: 0}}}", "when[0].sendEvents.bodies: "},
		"no events are published":            {strings.Replace(grid, "[{id: e}]", "[]", 1) + "then: {functions: {B: {attempts: 1}}}", "when[0].publish.events: "},
		"no documents are written":           {"functions: {Feed: {trigger: {type: cosmosDBTrigger, databaseName: shop, containerName: orders, createLeaseContainerIfNotExists: true}, handler: succeed}}\nwhen: [{write: {container: shop/orders, documents: []}}]\nthen: {functions: {Feed: {attempts: 0}}}", "when[0].write.documents: "},
		"an edit of nothing":                 {parcels + "when: [" + sent + ", {edit: {}}]\n" + once, "when[1].edit: found {}: the step changes nothing"},
		"a removal of nothing":               {parcels + "when: [" + sent + ", {remove: ''}]\n" + once, "when[1].remove: "},
		"a header that no answer has":        {asked + "when: [{request: {method: POST, path: /api/Ask, expect: {status: 201, headers: {Content-Tpye: null}}}}]\nthen: {functions: {Ask: {attempts: 1}}}", "did you mean \"Content-Type\"?"},
		"a path that no function has":        {asked + "when: [{request: {method: POST, path: /api/Aks, expect: {status: 404}}}]\nthen: {functions: {Ask: {attempts: 0}}}", "did you mean \"/api/Ask\"?"},
		"the messages of a topic":            {"functions: {Ship: {trigger: {type: serviceBusTrigger, topicName: news, subscriptionName: all}, handler: fail}}\nwhen: [{send: {serviceBus: news, body: x}}]\nthen: {serviceBus: {news: 0}}", "a topic holds no messages, its subscriptions do: news/Subscriptions/all"},
		"an edit that nobody reads":          {parcels + "when: [{edit: {Ship/functon.json: '{}'}}, " + sent + "]\n" + once, "did you mean \"Ship/function.json\"?"},
		"an edit that breaks a function":     {parcels + "when: [{edit: {New/function.json: '{\"bindings\": []}'}}, " + sent + "]\n" + once, "function \"New\" is in error"},
		"documents of another case":          {"functions: {Feed: {trigger: {type: cosmosDBTrigger, databaseName: shop, containerName: orders, createLeaseContainerIfNotExists: true}, handler: succeed}}\nwhen: [{write: {container: shop/orders, documents: [{id: '1'}]}}]\nthen: {cosmos: {Shop/orders: 0}}", "did you mean \"shop/orders\"?"},
		"nothing is expected of an answer":   {asked + "when: [{request: {method: POST, path: /api/Ask, expect: {}}}]\nthen: {functions: {Ask: {attempts: 1}}}", "when[0].request.expect: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := inFolder(t, map[string]string{"a.scenario.yaml": test.text})
			if !strings.Contains(got, test.want) {
				t.Errorf("got  %q\nwant %q in it", got, test.want)
			}
		})
	}
	for name, test := range map[string]struct {
		files map[string]string
		want  string
	}{
		"a folder that is no app":               {map[string]string{"app/README": ""}, "app: the app in "},
		"an app that has no code that is known": {map[string]string{"app/host.json": `{"version": "2.0"}`, "app/go.mod": "module x\n", "app/main.go": "package main\n\nfunc main() { this does not compile }\n"}, "app: the app in "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test.files["a.scenario.yaml"] = "app: app\nwhen: [{send: {queue: parcels, body: x}}]\nthen: {queues: {parcels-poison: 0}}"
			if got := inFolder(t, test.files); !strings.Contains(got, test.want) {
				t.Errorf("got  %q\nwant %q in it", got, test.want)
			}
		})
	}
}

// numbers are bodies of n messages.
func numbers(n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = strconv.Itoa(i)
	}
	return strings.Join(list, ", ")
}

// Faults that chance may leave unmet say so, answers that may be errors too, and an error is
// matched as people see it.
func TestRightScenariosPass(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"a status without a body":       "functions: {Ask: {trigger: {type: httpTrigger, authLevel: anonymous}, handler: {status: 202}}}\nwhen: [{request: {path: /api/Ask, expect: {status: 202, body: ''}}}]\nthen: {functions: {Ask: {attempts: 1}}}",
		"a fault that is not required":  "functions: {Ship: {trigger: {type: queueTrigger, queueName: parcels}, bindings: [{type: queue, direction: out, name: log, queueName: log}], handler: succeed}}\nwhen: [{fault: {operation: Delete, queue: parcels, required: false}}, {fault: {output: Ship/log, required: false}}]\nthen: {functions: {Ship: {attempts: 0}}}",
		"an error as a person reads it": "functions: {Ship: {trigger: {type: queueTrigger, queueName: parcels}, handler: {do: poison, error: card refused}}}\nwhen: [{send: {queue: parcels, body: x}}]\nthen: {functions: {Ship: {attempts: [{error: '^card refused$'}]}}}",
		"an error that is expected":     "functions: {Ask: {trigger: {type: httpTrigger, authLevel: anonymous}, handler: fail}}\nwhen: [{request: {path: /api/Ask, expect: {status: 500..599}}}]\nthen: {functions: {Ask: {attempts: 1}}}",
		"crashes of two instances":      "functions: {Ship: {trigger: {type: queueTrigger, queueName: parcels}, handler: succeed}}\nwhen: [{scaleOut: true}, {crash: {function: Ship, point: afterHandler}}, {send: {queue: parcels, body: x}}]\nthen: {functions: {Ship: {attempts: 2}}}",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := inFolder(t, map[string]string{"a.scenario.yaml": text}); got != "" {
				t.Errorf("%s", got)
			}
		})
	}
}

// An app may go without host.json, as the two files of the README do.
func TestAppWithoutHostFile(t *testing.T) {
	t.Parallel()
	if got := inFolder(t, map[string]string{
		"app/Ship/function.json": `{"bindings": [{"type": "queueTrigger", "direction": "in", "name": "item", "queueName": "parcels"}]}`,
		"a.scenario.yaml":        "app: app\nfunctions: {Ship: {handler: fail}}\nwhen: [{send: {queue: parcels, body: x}}]\nthen: {functions: {Ship: {attempts: 5, ends: poisoned}}}",
	}); got != "" {
		t.Error(got)
	}
}
