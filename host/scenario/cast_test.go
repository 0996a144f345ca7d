package scenario_test

import (
	"maps"
	"strings"
	"testing"
)

// shopFiles are two apps that send each other messages.
func shopFiles() map[string]string {
	queue := func(name, more string) string {
		return `{"bindings": [{"type": "queueTrigger", "direction": "in", "name": "item", "queueName": "` + name + `"}` + more + `]}`
	}
	return map[string]string{
		"orders/host.json":           `{"version": "2.0"}`,
		"orders/Place/function.json": `{"bindings": [{"type": "httpTrigger", "direction": "in", "name": "req", "authLevel": "anonymous"}, {"type": "http", "direction": "out", "name": "$return"}, {"type": "queue", "direction": "out", "name": "bill", "queueName": "bills"}, {"type": "sendGrid", "direction": "out", "name": "mail"}]}`,
		"orders/Paid/function.json":  queue("paid", ""),
		"orders/Tick/function.json":  `{"bindings": [{"type": "timerTrigger", "direction": "in", "name": "t", "schedule": "0 0 0 * * *"}]}`,
		// The messages of this app's queues are plain text, those of the other one Base64.
		"billing/host.json":          `{"version": "2.0", "extensions": {"queues": {"maxDequeueCount": 2, "messageEncoding": "none"}}}`,
		"billing/Bill/function.json": queue("bills", `, {"type": "serviceBus", "direction": "out", "name": "done", "queueName": "done"}`),
		"billing/Tick/function.json": `{"bindings": [{"type": "timerTrigger", "direction": "in", "name": "t", "schedule": "0 0 12 * * *"}]}`,
		"billing/Ping/function.json": `{"bindings": [{"type": "httpTrigger", "direction": "in", "name": "req", "authLevel": "anonymous"}, {"type": "http", "direction": "out", "name": "$return"}]}`,
	}
}

const shop = "apps: [orders, billing]\nfunctions:\n  orders/Place: {handler: {status: 202, outputs: {bill: \"7\", mail: sent}}}\n"

// Two apps in one scenario: each key that names a function, a queue, a file or a path finds the
// app that has it, and what holds of one does not hold of the other.
func TestSeveralApps(t *testing.T) {
	t.Parallel()
	const placed = "when:\n  - request: {method: POST, path: /api/Place, expect: {status: 202}}\n"
	for name, test := range map[string]struct{ text, want string }{
		"a message of one goes to the other": {shop + "  billing/Bill: {handler: [{do: fail, times: 1}, {do: succeed, outputs: {done: yes}}]}\n" + placed +
			"then:\n  functions:\n    Place: {attempts: 1}\n    billing/Bill: {attempts: 2, deliveries: [1, 1], ends: deleted}\n    billing/Tick: {ends: recorded}\n    orders/Tick: {ends: recorded}\n  serviceBus: {done: [yes]}\n  outputs: {orders/Place/mail: [sent]}\n  invariants: true\n  nothingElse: true", ""},
		"poison of the other's limit":      {shop + "  billing/Bill: {handler: fail}\n" + placed + "then: {functions: {Bill: {attempts: 2, ends: poisoned}}, queues: {bills-poison: 1}, journal: [{kind: received, app: billing, function: billing/Bill}]}", ""},
		"each encoding is its app's":       {shop + "when:\n  - send: {queue: bills, body: plain}\n  - send: {queue: paid, body: coded}\nthen: {functions: {Bill: {attempts: [{body: plain}]}, Paid: {attempts: [{body: coded}]}}}", ""},
		"a redrive":                        {shop + "  billing/Bill: {handler: [{do: fail, times: 2}]}\n" + placed + "  - settle: true\n  - redrive: {queue: bills-poison}\nthen: {functions: {Bill: {attempts: 3, ends: [poisoned, deleted]}}, queues: {bills-poison: 0}}", ""},
		"a crash of one":                   {shop + "when:\n  - crash: {function: Bill, point: afterHandler}\n  - request: {method: POST, path: /api/Place, expect: {status: 202}}\n  - start: true\nthen: {functions: {Bill: {attempts: 2, deliveries: [1, 1], ends: deleted}, Place: {attempts: 1}}, invariants: true}", ""},
		"a crash of both":                  {shop + placed + "  - crash: true\n  - send: {queue: paid, body: x}\n  - expect: {functions: {Paid: {attempts: 0}}}\n  - start: true\nthen: {functions: {Paid: {attempts: 1}, Bill: {attempts: 1}}, nothingElse: false}", ""},
		"a restart":                        {shop + placed + "  - restart: true\n  - request: {method: POST, path: /api/Place}\nthen: {functions: {Bill: {attempts: 2}, Place: {attempts: 2}}}", ""},
		"a fault of one's handler":         {shop + placed[:len("when:\n")] + "  - fault: {handler: Bill}\n  - request: {method: POST, path: /api/Place}\nthen: {functions: {Bill: {attempts: [{error: process}, {status: succeeded}]}}}", ""},
		"a fault of one's output":          {shop + "when:\n  - fault: {output: billing/Bill/done, times: 1}\n  - request: {method: POST, path: /api/Place}\nthen: {functions: {Bill: {attempts: [{status: failed}, {status: succeeded}]}}}", "when[0].fault: the fault still waits"},
		"an edit of one":                   {shop + "when:\n  - edit: {billing/host.json: '{\"version\": \"2.0\", \"extensions\": {\"queues\": {\"maxDequeueCount\": 1}}}'}\n  - send: {queue: bills, body: x}\nthen: {functions: {Bill: {attempts: 1, ends: deleted}}}", ""},
		"a request to the one that has it": {shop + "when:\n  - request: {path: /api/Ping}\n  - request: {app: billing, path: /api/Ping}\n  - request: {app: orders, path: /api/Ping, expect: {status: 404}}\nthen: {functions: {billing/Ping: {attempts: 2}}}", ""},
		"a call":                           {shop + "when:\n  - call: {function: billing/Tick}\n  - expect: {functions: {billing/Tick: {attempts: 1}, orders/Tick: {attempts: 0}}}\nthen: {invariants: true}", ""},
		"ticks of both":                    {shop + "when:\n  - advance: 13h\n  - expect: {functions: {billing/Tick: {attempts: 1}, orders/Tick: {attempts: 0}}}\nthen: {invariants: true}", ""},

		"another number":             {shop + "  billing/Bill: {handler: fail}\n" + placed + "then: {functions: {Bill: {attempts: 5}}}", "then.functions.Bill.attempts: billing/Bill made another number of attempts"},
		"a function of both":         {shop + "when:\n  - advance: 1m\nthen: {functions: {Tick: {attempts: 0}}}", "then.functions.Tick: 2 apps have a function \"Tick\"\n  want  billing/Tick or orders/Tick"},
		"a slip of a function":       {shop + "when:\n  - advance: 1m\nthen: {functions: {billing/Bil: {attempts: 0}}}", `did you mean "billing/Bill"?`},
		"a slip of an app":           {shop + "when:\n  - advance: 1m\nthen: {functions: {biling/Bill: {attempts: 0}}}", `did you mean "billing/Bill"?`},
		"a function of another":      {shop + "when:\n  - advance: 1m\nthen: {functions: {orders/Bill: {attempts: 0}}}", `the app has no function "orders/Bill"`},
		"a slip of a folder":         {strings.Replace(shop, "billing]", "biling]", 1) + placed + "then: {functions: {Place: {attempts: 1}}}", "apps[1]: found \"biling\": there is no folder \"biling\"; did you mean \"billing\"?"},
		"a folder twice":             {strings.Replace(shop, "billing]", "./orders]", 1) + placed + "then: {functions: {Place: {attempts: 1}}}", "apps[1]: found \"./orders\": the app stands here twice"},
		"one folder":                 {strings.Replace(shop, "orders, billing]", "orders]", 1) + placed + "then: {functions: {Place: {attempts: 1}}}", "apps: "},
		"app and apps":               {"app: orders\n" + shop + placed + "then: {functions: {Place: {attempts: 1}}}", "app: found \"orders\": the scenario has app and apps"},
		"a folder that is no app":    {strings.Replace(shop, "billing]", "empty]", 1) + placed + "then: {functions: {Place: {attempts: 1}}}", "is no app: it has no host.json and no function.json"},
		"a handler without its app":  {shop + "  Bill: {handler: fail}\n" + placed + "then: {functions: {Place: {attempts: 1}}}", "functions.Bill: found \"Bill\": of several apps a function has the name of its app before it; allowed: orders/Bill or billing/Bill"},
		"a handler of nothing":       {shop + "  billing/Bil: {handler: fail}\n" + placed + "then: {functions: {Place: {attempts: 1}}}", `functions.billing/Bil`},
		"another instance":           {shop + "when:\n  - scaleOut: true\nthen: {functions: {Place: {attempts: 1}}}", "when[0].scaleOut: an app among several runs in one instance"},
		"a request to no app":        {shop + "when:\n  - request: {app: biling, path: /api/Ping}\nthen: {functions: {Place: {attempts: 1}}}", `the scenario has no app "biling"; did you mean "billing"?`},
		"an edit of no app":          {shop + "when:\n  - edit: {host.json: '{}'}\nthen: {functions: {Place: {attempts: 1}}}", "when[0].edit[\"host.json\"]: found \"host.json\": the scenario has no app \"host.json\""},
		"a removal of nothing":       {shop + "when:\n  - remove: billing/Bil\nthen: {functions: {Place: {attempts: 1}}}", `did you mean "Bill"?`},
		"topics of both":             {"host: {redeliver: {eventGrid: {topics: []}}}\n" + shop + placed + "then: {functions: {Place: {attempts: 1}}}", "a subscription is of one"},
		"an output of another":       {shop + placed + "then: {outputs: {billing/Place/mail: []}}", `there is no output "billing/Place/mail"`},
		"nothing else in the other":  {shop + placed + "then: {functions: {Place: {attempts: 1}}, nothingElse: true}", `function "billing/Bill" has run`},
		"a crash that does not come": {shop + "when:\n  - crash: {function: Bill, point: betweenAttempts}\n  - request: {method: POST, path: /api/Place}\nthen: {functions: {Place: {attempts: 1}}}", "when[0]: "},
		"a setting of nobody":        {"settings: {AzureWebJobs.Bil.Disabled: 'true'}\n" + shop + placed + "then: {functions: {Place: {attempts: 1}}}", `did you mean "Bill"?`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := maps.Clone(shopFiles())
			files["empty/README"] = ""
			files["a.scenario.yaml"] = test.text
			got := inFolder(t, files)
			if test.want == "" && got != "" || !strings.Contains(got, test.want) {
				t.Errorf("got  %s\nwant %q in it", got, test.want)
			}
		})
	}
}
