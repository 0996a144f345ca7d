package scenario_test

import (
	"strings"
	"testing"
)

// Operations on a service are for what is there, and say so when that is nothing.
func TestOperationsOfServices(t *testing.T) {
	t.Parallel()
	const (
		grid = `host: {redeliver: {eventGrid: {topics: [{name: shop, subscriptions: [{name: index, function: OnOrder, deadLetterContainer: dead, maxDeliveryAttempts: 1}]}]}}}
entities: {containers: [dead, box]}
functions: {OnOrder: {trigger: {type: eventGridTrigger}, handler: [{do: fail, times: 1}]}}
when:
  - publish: {topic: shop, events: [{id: e1}, {id: e2}]}
  - settle: true
`
		blob = `functions: {Ship: {trigger: {type: queueTrigger, queueName: orders}, bindings: [{type: blob, direction: out, name: out, path: labels/x}], handler: succeed}}
when:
`
		poison = `functions: {Ship: {trigger: {type: queueTrigger, queueName: orders}, handler: [{do: fail, times: 5}]}}
when:
  - send: {queue: orders, body: a}
  - settle: true
`
	)
	for name, test := range map[string]struct{ text, want string }{
		"a dead letter by its event":       {grid + "  - redrive: {eventGrid: shop/index, messageId: e2}\nthen: {functions: {OnOrder: {attempts: 3}}}", ""},
		"all dead letters":                 {grid + "  - redrive: {eventGrid: shop/index}\nthen: {functions: {OnOrder: {attempts: 4}}}", ""},
		"a dead letter of no event":        {grid + "  - redrive: {eventGrid: shop/index, messageId: e3}\nthen: {functions: {OnOrder: {attempts: 2}}}", "when[2].redrive: there is nothing to redrive there"},
		"a member of a queue":              {grid + "  - redrive: {eventGrid: shop/index, to: orders}\nthen: {functions: {OnOrder: {attempts: 2}}}", "when[2].redrive.to: found \"orders\": eventGrid has no to; allowed: only of queue"},
		"a fault of a blob":                {grid + "  - fault: {container: box/a, operation: Put, required: false}\nthen: {functions: {OnOrder: {attempts: 2}}}", ""},
		"a fault of a blob of nothing":     {grid + "  - fault: {container: bax/a, operation: Put}\nthen: {functions: {OnOrder: {attempts: 2}}}", "when[2].fault.container: there is no container \"bax\": no binding, no service and no entity has this name; did you mean \"box\"?"},
		"a fault of two":                   {grid + "  - fault: {container: box, queue: orders}\nthen: {functions: {OnOrder: {attempts: 2}}}", "the fault names queue and container"},
		"no queue":                         {grid + "  - redrive: {queue: \"\"}\nthen: {functions: {OnOrder: {attempts: 2}}}", "when[2].redrive: the step names 0 places; allowed: one of eventGrid, queue, serviceBus"},
		"no queue, and another place":      {grid + "  - redrive: {queue: \"\", eventGrid: shop/index, to: \"\"}\nthen: {functions: {OnOrder: {attempts: 4}}}", ""},
		"a queue to nowhere":               {poison + "  - redrive: {queue: orders-poison, to: \"\"}\nthen: {functions: {Ship: {attempts: 6}}}", ""},
		"a container that is still to be":  {blob + "  - purge: {container: labels}\nthen: {containers: {labels: 0}}", "when[0].purge: there is nothing to purge there"},
		"a container that is nowhere":      {blob + "  - purge: {container: lables}\nthen: {containers: {labels: 0}}", "did you mean \"labels\"?"},
		"documents that are still to come": {"functions: {Feed: {trigger: {type: cosmosDBTrigger, databaseName: shop, containerName: orders, createLeaseContainerIfNotExists: true}, handler: succeed}}\nthen: {cosmos: {shop/orders: 1}}", "then.cosmos.shop/orders: container \"shop/orders\" holds other documents"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := inFolder(t, map[string]string{"a.scenario.yaml": test.text})
			if test.want == "" && got != "" || !strings.Contains(got, test.want) {
				t.Errorf("got  %q\nwant %q in it", got, test.want)
			}
		})
	}
}
