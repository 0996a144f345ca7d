package scenario_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redeliver/redeliver/host/scenario"
)

// load parses scenarios that are right.
func load(t *testing.T, text string) []*scenario.Scenario {
	t.Helper()
	list, faults := scenario.Parse(filepath.Join(t.TempDir(), "a.scenario.yaml"), []byte(text))
	for _, f := range faults {
		t.Error(f)
	}
	if t.Failed() {
		t.FailNow()
	}
	return list
}

// failures runs the only scenario of a text and returns what did not hold.
func failures(t *testing.T, text string) string {
	t.Helper()
	res := scenario.Run(context.Background(), load(t, text)[0], nil)
	var b strings.Builder
	for _, f := range res.Failures {
		f.Timeline = nil
		b.WriteString(strings.TrimPrefix(f.String(), filepath.Dir(f.File)+string(filepath.Separator)) + "\n")
	}
	return b.String()
}

const ship = `
functions:
  Ship:
    trigger: {type: queueTrigger, queueName: parcels}
    bindings: [{type: queue, direction: out, name: log, queueName: log}]
    retry: {strategy: fixedDelay, maxRetryCount: 2, delayInterval: "00:00:10"}
`

// What a scripted handler does is what a handler in Go would do.
func TestScripts(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, handler, then string }{
		{"succeed", "succeed", "{attempts: 1, ends: deleted}"},
		{"always", "fail", "{attempts: 15, deliveries: [3, 3, 3, 3, 3], waits: 10s, ends: poisoned}"},
		{"k times", "[{do: fail, times: 4}]", "{attempts: 5, deliveries: [3, 2], settled: [released, deleted], ends: deleted}"},
		{"in turn", "[{do: fail, times: 1, error: busy}, {do: fail, times: 1, error: gone}, succeed]", "{attempts: [{retryCount: 0, error: busy, status: failed, at: 0s}, {retryCount: 1, error: gone, at: 10s}, {status: succeeded, at: 20s, deliveryCount: 1}]}"},
		{"matches", "[{do: fail, match: '^x$', times: 1}, {do: succeed}]", "{attempts: 2}"},
		{"permanent", "{do: permanent}", "{attempts: 5, deliveries: 5, ends: poisoned}"},
		{"poison", "poison", "{attempts: 1, ends: poisoned}"},
		{"at once", "[{do: retryNow, times: 2}]", "{attempts: 3, waits: 0s}"},
		{"after", "[{do: retryAfter, after: 1h30m, times: 1}]", "{attempts: 2, waits: [1h30m], elapsed: 01:30:00}"},
		{"takes", "{take: 3m}", "{attempts: 1, elapsed: 3m}"},
		{"hangs", "hang", "{attempts: [{status: timed_out, at: 30m}, {status: timed_out}, {status: timed_out}, {status: timed_out}, {status: timed_out}, {status: timed_out}, {status: timed_out}, {status: timed_out}, {status: timed_out}, {status: timed_out}, {status: timed_out}, {status: timed_out}, {status: timed_out}, {status: timed_out}, {status: timed_out}]}"},
		{"panics", "[{do: panic, times: 1, error: boom}]", "{attempts: [{error: boom}, {status: succeeded}]}"},
		{"logs", "[{do: fail, times: 1, log: first}, {log: second}]", "{logs: [fir, second]}"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := failures(t, ship+"    handler: "+test.handler+"\nwhen: [{send: {queue: parcels, body: x}}]\nthen: {functions: {Ship: "+test.then+"}}\n"); got != "" {
				t.Error(got)
			}
		})
	}
}

// Each sort of thing that is done and looked at, by a scenario that holds.
func TestSteps(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, text string }{
		{"queue", ship + `
    handler: {outputs: {log: {tried: 1}}}
when:
  - send: {queue: parcels, bodies: [a, b], delay: 1h}
  - expect: {hidden: {parcels: [a, b]}, queues: {log: 0}, functions: {Ship: {attempts: 0}}}
  - advance: 2h
then:
  queues: {parcels: [], log: [{tried: 1}, {tried: 1}]}
  functions: {Ship: {attempts: 2, elapsed: 1h..1h1m}}
  nothingElse: true
`},
		{"messages are counted apart", ship + `
    handler: [{do: fail, times: 1}]
when:
  - send: {queue: parcels, bodies: [{id: 7}, {id: 7}]}
then: {functions: {Ship: {attempts: 4, deliveries: [2, 2], ends: deleted}}}
`},
		{"faults", ship + `
    handler: {outputs: {log: x}}
when:
  - fault: {output: Ship/log, times: 2}
  - send: {queue: parcels, body: a}
then: {functions: {Ship: {attempts: 3}}, queues: {log: [x]}}
`},
		{"storage fault", ship + `
when:
  - fault: {operation: Delete, queue: parcels, after: true}
  - send: {queue: parcels, body: a}
then: {functions: {Ship: {ends: deleted}}, journal: [{kind: settled, error: /unavailable/}]}
`},
		{"crash", ship + `
    handler: fail
when:
  - send: {queue: parcels, body: a}
  - await: {function: Ship, kind: retry_scheduled, attempt: 3}
  - crash: true
  - start: true
then: {functions: {Ship: {deliveries: [2, 3, 3, 3, 3], ends: poisoned}}, queues: {parcels-poison: [a]}}
`},
		{"a host that stays down", ship + `
    handler: fail
when:
  - send: {queue: parcels, body: a}
  - crash: true
  - send: {queue: parcels, body: b}
then: {functions: {Ship: {attempts: 1}}, hidden: {parcels: [a]}, queues: {parcels: [b]}, nothingElse: true}
`},
		{"restart, edit, remove", ship + `
when:
  - restart: true
  - edit: {Ship/function.json: '{"bindings": [{"type": "queueTrigger", "direction": "in", "name": "item", "queueName": "others"}]}'}
  - send: {queue: others, body: a}
  - expect: {functions: {Ship: {attempts: 1}}}
  - remove: Ship
  - send: {queue: others, body: b}
then: {queues: {others: [b]}}
`},
		{"http and call", `
functions:
  Quote:
    trigger: {type: httpTrigger, route: quote, authLevel: anonymous}
    retry: {strategy: fixedDelay, maxRetryCount: 2, delayInterval: "00:00:10"}
    handler: [{do: fail, times: 1}, {status: 201, body: {price: 3}}]
  Late: {trigger: {type: httpTrigger, route: late, authLevel: anonymous}, handler: {take: 1m}}
  By: {trigger: {type: manualTrigger}}
when:
  - request: {method: POST, path: /api/quote, expect: {status: 201, body: {price: 3}}}
  - request: {path: /api/late, patience: 5s}
  - request: {path: /api/none, expect: {status: 404}}
  - call: {function: By, body: x}
then: {functions: {Quote: {attempts: 2, elapsed: 10s}, By: {attempts: 1}, Late: {deliveries: 1}}}
`},
		{"service bus", `
functions:
  Ship:
    trigger: {type: serviceBusTrigger, queueName: parcels}
    handler: [{do: deadLetter, reason: Bad, match: bad}, {do: fail, times: 1}]
when:
  - send: {serviceBus: parcels, bodies: [bad, good], properties: {n: 1}}
then:
  functions: {Ship: {attempts: 3, ends: [dead_lettered, completed]}}
  serviceBus: {"parcels/$DeadLetterQueue": [bad], parcels: 0}
  nothingElse: true
`},
		{"event hub", `
functions:
  Meter: {trigger: {type: eventHubTrigger, eventHubName: readings, cardinality: many}, handler: [{do: fail, times: 1}]}
entities: {eventHubs: [other]}
when:
  - sendEvents: {eventHub: readings, key: k, bodies: [1, 2]}
  - sendEvents: {eventHub: other, bodies: [1]}
then:
  functions: {Meter: {settled: checkpointed}}
  journal: [{kind: checkpoint_written}]
`},
		{"event grid", `
host: {redeliver: {eventGrid: {topics: [{name: shop, subscriptions: [{name: s, function: OnOrder}]}]}}}
functions:
  OnOrder: {trigger: {type: eventGridTrigger}, handler: [{do: fail, times: 2}]}
when: [{publish: {topic: shop, events: [{subject: /orders/7}]}}]
then: {functions: {OnOrder: {attempts: 3, elapsed: 40s}}}
`},
		{"blobs", `
functions:
  Thumb:
    trigger: {type: blobTrigger, path: "pictures/{name}"}
    bindings: [{type: blob, direction: out, name: out, path: "small/{name}"}]
    handler: {outputs: {out: small}}
when: [{upload: {blob: pictures/a.txt, body: x}}]
then: {blobs: {small/a.txt: small, small/b.txt: null}, containers: {small: [a.txt]}}
`},
		{"cosmos", `
functions:
  Index: {trigger: {type: cosmosDBTrigger, databaseName: shop, containerName: orders, createLeaseContainerIfNotExists: true}, handler: succeed}
when: [{write: {container: shop/orders, documents: [{id: "7", n: 1}]}}]
then: {cosmos: {shop/orders: [{id: "7"}]}, functions: {Index: {settled: checkpointed}}}
`},
		{"recorded output, start, seed and settings", `
start: 2031-05-01T00:00:00Z
seed: 7
settings: {Q: parcels}
functions:
  Ship:
    trigger: {type: queueTrigger, queueName: "%Q%"}
    bindings: [{type: sendGrid, direction: out, name: mail}]
    handler: {outputs: {mail: {to: a}}}
when: [{send: {queue: parcels, body: x}}, {settle: true}]
then: {outputs: {Ship/mail: [{to: a}]}, journal: [{kind: received, time: /^2031-05-01/}]}
`},
		{"two messages of one identity", `
functions:
  Ship: {trigger: {type: serviceBusTrigger, queueName: parcels}, handler: [{do: deadLetter, match: bad}, {do: fail, match: good, times: 2}]}
when:
  - send: {serviceBus: parcels, body: bad, messageId: same}
  - send: {serviceBus: parcels, body: good, messageId: same}
then: {functions: {Ship: {ends: [dead_lettered, completed]}}}
`},
		{"the ticks of two runs", `
functions:
  Tick: {trigger: {type: timerTrigger, schedule: "0 */5 * * * *"}, handler: [{do: fail, times: 1}]}
when: [{advance: 6m}, {restart: true}, {advance: 5m}]
then: {functions: {Tick: {ends: [recorded, recorded, recorded, recorded]}}}
`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := failures(t, test.text); got != "" {
				t.Error(got)
			}
		})
	}
}

// An expectation that does not hold names its place, what was expected and what was found.
func TestFailures(t *testing.T) {
	t.Parallel()
	const sent = ship + "    handler: fail\nwhen: [{send: {queue: parcels, body: x}}]\nthen: "
	for _, test := range []struct{ name, text, want string }{
		{"attempts", sent + "{functions: {Ship: {attempts: 3}}}", "a.scenario.yaml:9: then.functions.Ship.attempts: Ship made another number of attempts\n  want  3\n  got   15\n"},
		{"facts", sent + "{functions: {Ship: {attempts: [{}]}}}", "a.scenario.yaml:9: then.functions.Ship.attempts: Ship made another number of attempts\n  want  1\n  got   15\n"},
		{"deliveries", sent + "{functions: {Ship: {deliveries: [3]}}}", "a.scenario.yaml:9: then.functions.Ship.deliveries: Ship made other numbers of attempts in its deliveries\n  want  [3]\n  got   [3 3 3 3 3]\n"},
		{"waits", sent + "{functions: {Ship: {waits: 1s..9s}}}", "a.scenario.yaml:9: then.functions.Ship.waits: retries of Ship waited otherwise\n  want  each 1s..9s\n  got   10 x 10s\n"},
		{"settled", sent + "{functions: {Ship: {settled: [poisoned]}}}", "a.scenario.yaml:9: then.functions.Ship.settled: deliveries of Ship were settled otherwise\n  want  poisoned\n  got   4 x released, poisoned\n"},
		{"ends", sent + "{functions: {Ship: {ends: deleted}}}", "a.scenario.yaml:9: then.functions.Ship.ends: messages of Ship ended otherwise\n  want  each deleted\n  got   poisoned\n"},
		{"queue", sent + "{queues: {parcels-poison: [y]}}", "a.scenario.yaml:9: then.queues.parcels-poison: queue \"parcels-poison\" holds other messages\n  want  \"y\"\n  got   \"x\"\n"},
		{"nothing else", sent + "{nothingElse: true}", "a.scenario.yaml:9: then.nothingElse: function \"Ship\" has run\n  want  no function that is not named\n  got   attempts of Ship\na.scenario.yaml:9: then.nothingElse: queue \"parcels-poison\" holds messages\n  want  none\n  got   \"x\"\n"},
		{"journal", sent + "{journal: [{kind: settled, decision: poisoned}, {kind: settled, decision: released}]}", "a.scenario.yaml:9: then.journal[1]: the journal has such a record only before the one of the pattern above\n  want  {\"decision\":\"released\",\"kind\":\"settled\"}\n  got   \n"},
		{"logs", sent + "{functions: {Ship: {logs: [x]}}}", "a.scenario.yaml:9: then.functions.Ship.logs[0]: Ship has not logged it, in this order\n  want  x\n  got   none\n"},
		{"elapsed", ship + "then: {elapsed: 0s..1m, functions: {Ship: {elapsed: 0s..1m}}}", "a.scenario.yaml:7: then.functions.Ship.elapsed: no attempt of Ship has ended\n  want  0s..1m\n  got   none\na.scenario.yaml:7: then.elapsed: no attempt has ended\n"},
		{"more than the body", ship + "when: [{send: {queue: others, body: '{\"a\":1} {\"a\":2}'}}]\nthen: {queues: {others: [{a: 1}]}}", "a.scenario.yaml:8: then.queues.others: "},
		{"a neighbour of a large number", ship + "when: [{send: {queue: others, body: {a: 9007199254740993}}}]\nthen: {queues: {others: [{a: 9007199254740992}]}}", "a.scenario.yaml:8: then.queues.others: "},
		{"an answer without body", "functions: {Ask: {trigger: {type: httpTrigger, authLevel: anonymous}, handler: {body: hello}}}\nwhen: [{request: {path: /api/Ask, expect: {body: null}}}]\nthen: {invariants: true}", "a.scenario.yaml:2: when[0].request.expect.body: the answer has another body\n  want  \"\"\n  got   \"hello\"\n"},
		{"unknown function", sent + "{functions: {Sihp: {attempts: 1}}}", "a.scenario.yaml:9: then.functions.Sihp: the app has no function \"Sihp\"; did you mean \"Ship\"?\n  want  Ship\n  got   \"Sihp\"\n"},
		{"await", ship + "when: [{await: {kind: settled}}]\nthen: {invariants: true}", "a.scenario.yaml:7: when[0]: await: a record that match accepts has not come"},
		{"fault that nothing meets", ship + "when: [{fault: {operation: ReleaseMessage, queue: parcels}}, {send: {queue: parcels, body: x}}]\nthen: {invariants: true}", "a.scenario.yaml:7: when[0].fault: the fault still waits: nothing that it is for has happened\n"},
		{"no app", "app: nowhere\nthen: {invariants: true}", "a.scenario.yaml:1: app: there is no folder"},
		{"a folder that is no app", "app: .\nfunctions: {A: {trigger: {type: queueTrigger, queueName: q}}}\nthen: {invariants: true}", "a.scenario.yaml:1: app: the folder "},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := failures(t, test.text); !strings.HasPrefix(got, test.want) {
				t.Errorf("got\n%swant\n%s", got, test.want)
			}
		})
	}
}

// A faulty file has a fault at the place of each error.
func TestParseFaults(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, text, want string }{
		{"empty", "", "a.yaml:1:1: the file holds no scenario"},
		{"no then", "app: .", "a.yaml:1:1: then"},
		{"unknown key", "app: .\nthen: {invariants: true}\nwehn: []", `a.yaml:3:7: wehn: found "wehn": unknown name`},
		{"two steps in one", "app: .\nwhen: [{crash: true, start: true}]\nthen: {invariants: true}", "a.yaml:2:8: when[0]: found an object: the step has more than one key"},
		{"span", "app: .\nwhen: [{advance: soon}]\nthen: {invariants: true}", "a.yaml:2:18: when[0].advance: found \"soon\""},
		{"no trigger", "functions: {A: {handler: fail}}\nthen: {invariants: true}", "a.yaml:1:16: functions.A.trigger: a function without an app needs a trigger"},
		{"word", "app: .\nfunctions: {A: {handler: [{do: explode}]}}\nthen: {invariants: true}", "a.yaml:2:32: functions.A.handler[0].do"},
		{"bare word", "app: .\nfunctions: {A: {handler: explode}}\nthen: {invariants: true}", "a.yaml:2:26: functions.A.handler"},
		{"regexp", "app: .\nfunctions: {A: {handler: [{match: '('}]}}\nthen: {invariants: true}", "a.yaml:2:35: functions.A.handler[0].match"},
		{"range", "app: .\nthen: {elapsed: 9s..1s}", "a.yaml:2:17: then.elapsed"},
		{"refused by a queue", "app: .\nwhen: [{send: {queue: orders, refused: full}}]\nthen: {invariants: true}", "a.yaml:2:40: when[0].send.refused: a storage queue has no refused"},
		{"session of a queue", "app: .\nwhen: [{send: {queue: orders, sessionId: ''}}]\nthen: {invariants: true}", "a.yaml:2:42: when[0].send.sessionId: a storage queue has no sessionId"},
		{"two services", "app: .\nwhen: [{send: {queue: orders, serviceBus: orders}}]\nthen: {invariants: true}", "a.yaml:2:23: when[0].send.queue: send names a queue and an entity of Service Bus"},
		{"no service", "app: .\nwhen: [{send: {body: x}}]\nthen: {invariants: true}", "a.yaml:2:15: when[0].send: send names no queue and no entity of Service Bus"},
		{"body and bodies", "app: .\nwhen: [{send: {queue: orders, body: x, bodies: [y]}}]\nthen: {invariants: true}", "a.yaml:2:37: when[0].send.body: send has a body and bodies"},
		{"fault of two", "app: .\nwhen: [{fault: {queue: orders, handler: A}}]\nthen: {invariants: true}", "a.yaml:2:41: when[0].fault.handler: the fault names queue and handler"},
		{"late output", "app: .\nwhen: [{fault: {output: A/o, latency: 1s}}]\nthen: {invariants: true}", "a.yaml:2:39: when[0].fault.latency: an output that cannot be written has no latency"},
		{"await anything", "app: .\nwhen: [{await: {}}]\nthen: {invariants: true}", "a.yaml:2:16: when[0].await"},
		{"no record", "app: .\nthen: {journal: []}", "a.yaml:2:17: then.journal"},
		{"no line", "app: .\nthen: {functions: {A: {logs: []}}}", "a.yaml:2:30: then.functions.A.logs"},
		{"name of a folder", "functions: {../../A: {trigger: {type: queueTrigger}}}\nthen: {invariants: true}", "a.yaml:1:22: functions[\"../../A\"]: found \"../../A\": this is no name of a function"},
		{"name twice", "functions: {A: {trigger: {type: queueTrigger}}, a: {trigger: {type: queueTrigger}}}\nthen: {invariants: true}", "a.yaml:1:52: functions.a: found \"a\": the function stands here twice: names ignore case, and there is \"A\""},
		{"exponent", "app: .\nfunctions: {A: {handler: {do: fail, times: 1e0}}}\nthen: {invariants: true}", "a.yaml:2:44: functions.A.handler.times: found 1e0: the number has a point or an exponent"},
		{"octal", "app: .\nwhen: [{send: {queue: orders, body: 007}}]\nthen: {invariants: true}", "a.yaml:2:37: found 007: a number that begins with 0"},
		{"large number", "app: .\nthen: {functions: {A: {attempts: 1e99}}}", "a.yaml:2:34: then.functions.A.attempts"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, faults := scenario.Parse("a.yaml", []byte(test.text))
			if len(faults) == 0 {
				t.Fatal("no fault")
			}
			if got := faults[0].Error(); !strings.HasPrefix(got, test.want) {
				t.Errorf("got %q\nwant %q at its beginning", got, test.want)
			}
		})
	}
}

// The app of a folder runs with its own policy, or with another of the scenario; the
// folder stays as it is.
func TestAppOfAFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"app/host.json":          `{"version": "2.0", "retry": {"strategy": "fixedDelay", "maxRetryCount": 1, "delayInterval": "00:00:01"}}`,
		"app/Ship/function.json": `{"bindings": [{"type": "queueTrigger", "direction": "in", "name": "m", "queueName": "parcels"}]}`,
		"app/Also/function.json": `{"bindings": [{"type": "queueTrigger", "direction": "in", "name": "m", "queueName": "others"}]}`,
		"a.scenario.yaml": `
app: app
functions: {ship: {handler: fail}}
when: [{send: {queue: parcels, body: x}}, {send: {queue: others, body: x}}]
then: {functions: {Ship: {deliveries: [2, 2, 2, 2, 2]}, Also: {ends: deleted}}}
---
app: app
host: {extensions: {queues: {maxDequeueCount: 2}}}
functions: {Ship: {handler: fail, retry: {strategy: fixedDelay, maxRetryCount: 3, delayInterval: "00:00:05"}}}
when: [{send: {queue: parcels, body: x}}]
then: {functions: {Ship: {deliveries: [4, 4], waits: 5s}}}
---
app: app
host: {Retry: {MaxRetryCount: 2}}
functions: {ship: {trigger: {type: queueTrigger, queueName: other-parcels}, handler: fail}}
when: [{send: {queue: other-parcels, body: x}}, {send: {queue: parcels, body: x}}]
then: {functions: {Ship: {deliveries: [3, 3, 3, 3, 3], waits: 1s}}, queues: {parcels: [x]}}
---
app: app
functions: {Gone: {handler: fail}}
then: {invariants: true}
`,
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	list, faults := scenario.Load(filepath.Join(dir, "a.scenario.yaml"))
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	for _, s := range list[:3] {
		if res := scenario.Run(context.Background(), s, nil); !res.Passed() {
			t.Errorf("%s: %v", s.Name, res.Failures)
		}
	}
	res := scenario.Run(context.Background(), list[3], nil)
	if len(res.Failures) != 1 || !strings.Contains(res.Failures[0].Message, "no function.json of this name") {
		t.Errorf("%v", res.Failures)
	}
}

// Results come in the order of the jobs, and the same seed gives the same run.
func TestRunAll(t *testing.T) {
	t.Parallel()
	s := load(t, ship+"    handler: fail\nwhen: [{send: {queue: parcels, body: x}}]\nthen: {functions: {Ship: {attempts: 15}}}\n---\nskip: later\napp: .\nthen: {invariants: true}\n")
	var jobs []scenario.Job
	for i := range 20 {
		seed := uint64(i / 2)
		jobs = append(jobs, scenario.Job{Scenario: s[0], Options: &scenario.Options{Seed: &seed}})
	}
	jobs = append(jobs, scenario.Job{Scenario: s[1]})
	var sum scenario.Sum
	var results []*scenario.Result
	scenario.RunAll(context.Background(), jobs, 2, func(r *scenario.Result) {
		results = append(results, r)
		sum.Add(r)
	})
	for i := 0; i < 20; i += 2 {
		if a, b := results[i], results[i+1]; a.Seed != uint64(i/2) || a.Virtual != b.Virtual {
			t.Errorf("seeds %d and %d: %v and %v", a.Seed, b.Seed, a.Virtual, b.Virtual)
		}
	}
	if sum.Passed != 20 || sum.Skipped != 1 || sum.Failed != 0 {
		t.Errorf("%+v", sum)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	scenario.RunAll(ctx, jobs, 2, func(r *scenario.Result) {})
}

// A timeline is compared with a file beside the scenario, and written when it is asked for.
func TestGoldenTimelines(t *testing.T) {
	t.Parallel()
	s := load(t, ship+`
when: [{send: {queue: parcels, body: x}}]
then: {timeline: lives/ship.txt, functions: {Ship: {attempts: 1}}}
`)[0]
	first := func(o *scenario.Options) string {
		res := scenario.Run(context.Background(), s, o)
		if len(res.Failures) == 0 {
			return ""
		}
		return res.Failures[0].Message + ": want " + res.Failures[0].Want + " got " + res.Failures[0].Got
	}
	if got := first(nil); !strings.Contains(got, `there is no file "lives/ship.txt"; "redeliver test --update" writes it`) {
		t.Errorf("no file: %q", got)
	}
	if got := first(&scenario.Options{Update: true}); got != "" {
		t.Errorf("update: %q", got)
	}
	if got := first(nil); got != "" {
		t.Errorf("the same: %q", got)
	}
	file := filepath.Join(filepath.Dir(s.File), "lives", "ship.txt")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(strings.Replace(string(text), "succeeded", "failed", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := first(nil); !strings.Contains(got, "the timeline differs from line 7 of lives/ship.txt: want   +0s            attempt 1 of 3 failed got   +0s            attempt 1 of 3 succeeded") {
		t.Errorf("another: %q", got)
	}
	outside := load(t, ship+"then: {timeline: ../ship.txt}")[0]
	if res := scenario.Run(context.Background(), outside, &scenario.Options{Update: true}); len(res.Failures) != 1 || !strings.Contains(res.Failures[0].Message, "no file beside the scenario") {
		t.Errorf("outside: %+v", res.Failures)
	}
}

// A long timeline has its beginning and its end.
func TestLongTimelines(t *testing.T) {
	t.Parallel()
	s := load(t, `
functions: {Ship: {trigger: {type: queueTrigger, queueName: parcels}, handler: fail, retry: {strategy: fixedDelay, maxRetryCount: 9, delayInterval: "00:00:01"}}}
when: [{send: {queue: parcels, body: x}}]
then: {functions: {Ship: {attempts: 1}}}
`)[0]
	res := scenario.Run(context.Background(), s, nil)
	if len(res.Failures) != 1 || len(res.Failures[0].Timeline) != 41 || !strings.HasPrefix(res.Failures[0].Timeline[20], "... ") {
		t.Errorf("failures: %+v", res.Failures)
	}
}
