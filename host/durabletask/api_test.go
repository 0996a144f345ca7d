package durabletask_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/bindings/durable"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/durabletask"
	"github.com/redeliver/redeliver/host/hosttest/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

var epoch = time.Date(2030, 1, 1, 9, 0, 0, 0, time.UTC)

// bench is an API over a fake hub, on a clock that skips waiting.
type bench struct {
	t   *testing.T
	clk *clock.Virtual
	hub *fake
	api *durabletask.API
}

func newBench(t *testing.T) *bench {
	t.Helper()
	clk := clock.NewVirtual(epoch, nil)
	clk.Auto()
	t.Cleanup(clk.Close)
	b := &bench{t: t, clk: clk, hub: newFake(clk, "TestHubName")}
	b.api = durabletask.New(&durabletask.Options{
		Clock: clk,
		Hub: func(name string) durable.Hub {
			if name != "" && !strings.EqualFold(name, b.hub.name) {
				return newFake(clk, name)
			}
			return b.hub
		},
		Functions: func() durable.Functions {
			return durable.Functions{
				Known:    []durable.Function{{Kind: durable.Orchestrator, Name: "Order"}, {Kind: durable.Activities, Name: "Charge"}, {Kind: durable.EntityFunction, Name: "counter"}},
				Disabled: []durable.Function{{Kind: durable.Orchestrator, Name: "Off"}},
			}
		},
	})
	b.api.ServedAt("http://localhost:7099", func() string { return "k1" })
	t.Cleanup(func() {
		if err := b.api.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

// standing has an instance in each state.
func (b *bench) standing() {
	for _, s := range []durable.Status{durable.Pending, durable.Running, durable.Suspended, durable.Completed, durable.Failed, durable.Terminated} {
		i := durable.Instance{ID: strings.ToLower(s.String()), Name: "Order", Status: s, Input: text(`{"n":1}`)}
		if s == durable.Failed {
			i.Output = text("Orchestrator function 'Order' failed: 5")
		}
		b.hub.put(i)
	}
}

type reply struct {
	status int
	header http.Header
	body   string
}

// ask makes a request: method and path below the web hook, and pairs of headers.
func (b *bench) ask(door durabletask.Door, method, path, body string, header ...string) reply {
	b.t.Helper()
	prefix := durabletask.HookPath
	if door == durabletask.RPC {
		prefix = durabletask.RPCPath
	}
	r := httptest.NewRequestWithContext(clock.ForVisitor(b.t.Context()), method, "http://localhost:7099"+prefix+"/"+path, bytes.NewBufferString(body))
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	b.api.Handler(door).ServeHTTP(w, r)
	return reply{w.Code, w.Header(), w.Body.String()}
}

const links = `{"id":"<I>","statusQueryGetUri":"<B>?<Q>","sendEventPostUri":"<B>/raiseEvent/{eventName}?<Q>","terminatePostUri":"<B>/terminate?reason={text}&<Q>","rewindPostUri":"<B>/rewind?reason={text}&<Q>","purgeHistoryDeleteUri":"<B>?<Q>","restartPostUri":"<B>/restart?<Q>","suspendPostUri":"<B>/suspend?reason={text}&<Q>","resumePostUri":"<B>/resume?reason={text}&<Q>"}`

// linksOf is the body of the answer to a start.
func linksOf(id string) string {
	at := "http://localhost:7099/runtime/webhooks/durabletask/instances/" + id
	return strings.NewReplacer("<I>", id, "<B>", at, "<Q>", "taskHub=TestHubName&connection=Storage&code=k1").Replace(links)
}

const noJSON = `{"Message":"Invalid JSON content","ExceptionMessage":"The text is no JSON at line 1, position 1.","ExceptionType":"Newtonsoft.Json.JsonReaderException","StackTrace":null}`
const noBody = `{"Message":"Invalid JSON content","ExceptionMessage":"Error reading JToken from JsonReader. Path '', line 0, position 0.","ExceptionType":"Newtonsoft.Json.JsonReaderException","StackTrace":null}`

func argument(text string) string {
	return `{"Message":"One or more of the arguments submitted is incorrect","ExceptionMessage":` + text + `,"ExceptionType":"System.ArgumentException","StackTrace":null}`
}

func wrong(text string) string {
	return `{"Message":"Something went wrong while processing your request","ExceptionMessage":"` + text + `","ExceptionType":"System.InvalidOperationException","StackTrace":null}`
}

// Each route with what it refuses (spec durable 5.3 and 8.2; T-26, T-27, T-39, T-48 to T-50,
// T-53, T-54, T-69, T-70, T-74, T-89, T-95).
func TestRoutes(t *testing.T) {
	t.Parallel()
	js := []string{"Content-Type", "application/json; charset=utf-8"}
	for _, test := range []struct {
		name, method, path, body string
		header                   []string
		status                   int
		want                     string // the body
		calls                    string
	}{
		{"start", "POST", "orchestrators/Order/o7", `{"a": 1}`, nil, 202, linksOf("o7"), `start Order o7 {"a": 1} http`},
		{"start in other letters, with a slash", "POST", "Orchestrators/Order/o7/", `1`, nil, 202, linksOf("o7"), `start Order o7 1 http`},
		{"start without an id", "POST", "orchestrators/Order", `"x"`, nil, 202, linksOf("made"), `start Order made "x" http`},
		{"start without input", "POST", "orchestrators/Order/o7", "", nil, 202, linksOf("o7"), `start Order o7 - http`},
		{"start of an unknown name", "POST", "orchestrators/Nope/o7", "", nil, 202, linksOf("o7"), `start Nope o7 - http`},
		{"start of a disabled one", "POST", "orchestrators/off", "", nil, 400, `{"Message":"The function 'off' doesn't exist, is disabled, or is not an orchestrator function. Additional info: The following are the known orchestrator functions: 'Order'."}`, ""},
		{"start with bad JSON", "POST", "orchestrators/Order", "{", nil, 400, noJSON, ""},
		{"start with two values", "POST", "orchestrators/Order", "1 2", nil, 400, `{"Message":"Invalid JSON content","ExceptionMessage":"The text is no JSON at line 1, position 3.","ExceptionType":"Newtonsoft.Json.JsonReaderException","StackTrace":null}`, ""},
		{"start with an id in use", "POST", "orchestrators/Order/running", "", nil, 409, `{"Message":"An Orchestration instance with the status Running already exists."}`, ""},
		{"start with an id of a pending one", "POST", "orchestrators/Order/pending", "", nil, 409, `{"Message":"An Orchestration instance with the status Pending already exists."}`, ""},
		{"start in the place of a finished one", "POST", "orchestrators/Order/completed", "", nil, 202, linksOf("completed"), "start Order completed - http"},
		{"start with an entity's id", "POST", "orchestrators/Order/@x", "", nil, 400, argument(`"Orchestration instance ids must not start with @."`), ""},
		{"start with a bad id", "POST", "orchestrators/Order/a%23b", "", nil, 400, argument(`"Orchestration instance ids must not contain /, \\, #, ?, or control characters."`), ""},
		{"start with a slash in the id", "POST", "orchestrators/Order/a%2Fb", "", nil, 404, "", ""},
		{"start with a long id", "POST", "orchestrators/Order/" + strings.Repeat("a", 257), "", nil, 400, argument(`"Instance ID lengths must not exceed 256 characters."`), ""},
		{"a wait shorter than its polls", "POST", "orchestrators/Order/o7?timeout=1&pollingInterval=5", "", nil, 400, `{"Message":"Total timeout 1 should be bigger than retry timeout 5"}`, "start Order o7 - http"},
		{"a timeout alone", "POST", "orchestrators/Order/o7?timeout=1", "", nil, 202, linksOf("o7"), "start Order o7 - http"},

		{"event to an unknown one", "POST", "instances/nope/raiseEvent/go", "x", nil, 404, "", ""},
		{"event to a finished one", "POST", "instances/completed/raiseEvent/go", "x", nil, 410, "", ""},
		{"event as text", "POST", "instances/running/raiseEvent/go", "1", []string{"Content-Type", "text/plain"}, 400, `{"Message":"Only application/json request content is supported"}`, ""},
		{"event as text/json", "POST", "instances/running/raiseEvent/go", "1", []string{"Content-Type", "text/json"}, 400, `{"Message":"Only application/json request content is supported"}`, ""},
		{"event as a JSON of a kind", "POST", "instances/running/raiseEvent/go", "1", []string{"Content-Type", "application/x+json"}, 400, `{"Message":"Only application/json request content is supported"}`, ""},
		{"event without a type", "POST", "instances/running/raiseEvent/go", "1", nil, 400, `{"Message":"Only application/json request content is supported"}`, ""},
		{"event that is no JSON", "POST", "instances/running/raiseEvent/go", "{", js, 400, noJSON, ""},
		{"event without a body", "POST", "instances/running/raiseEvent/go", "", js, 400, noBody, ""},
		{"event null", "POST", "instances/running/raiseEvent/go", "null", js, 202, "", "raise running go null http"},
		{"event", "POST", "instances/Pending/raiseevent/Go", `{"a":1}`, js, 404, "", ""},
		{"event to a pending one", "POST", "instances/pending/raiseevent/Go", `{"a":1}`, js, 202, "", `raise pending Go {"a":1} http`},

		{"terminate", "POST", "instances/running/terminate?reason=no%20more", "", nil, 202, "", "terminate running no more http"},
		{"terminate unknown", "POST", "instances/nope/terminate", "", nil, 404, "", ""},
		{"terminate finished", "POST", "instances/failed/terminate", "", nil, 410, "", ""},
		{"suspend", "POST", "instances/running/suspend", "", nil, 202, "", "suspend running  http"},
		{"suspend again", "POST", "instances/suspended/suspend", "", nil, 500, wrong("Cannot suspend the orchestration instance suspended because instance is in the Suspended state."), ""},
		{"resume", "POST", "instances/suspended/resume?REASON=x", "", nil, 202, "", "resume suspended x http"},
		{"resume running", "POST", "instances/running/resume", "", nil, 500, wrong("Cannot resume the orchestration instance running because instance is in the Running state."), ""},
		{"resume finished", "POST", "instances/terminated/resume", "", nil, 410, "", ""},
		{"rewind", "POST", "instances/failed/rewind?reason=again", "", nil, 202, "", "rewind failed again http"},
		{"rewind running", "POST", "instances/running/rewind", "", nil, 412, `"This orchestration has status Running, but only orchestrations in the \"Failed\" state can be rewound."`, ""},
		{"rewind unknown", "POST", "instances/nope/rewind", "", nil, 404, `"No orchestration with instance ID \"$nope\" found."`, ""},
		{"restart", "POST", "instances/completed/restart", "", nil, 202, linksOf("made"), `start Order made {"n":1} restart`},
		{"restart running under a new id", "POST", "instances/running/restart?restartWithNewInstanceId=true", "", nil, 202, linksOf("made"), `start Order made {"n":1} restart`},
		{"restart under its id", "POST", "instances/completed/restart?restartWithNewInstanceId=False", "", nil, 202, linksOf("completed"), `start Order completed {"n":1} http`},
		{"restart running under its id", "POST", "instances/running/restart?restartWithNewInstanceId=false", "", nil, 409,
			`{"Message":"A non-terminal instance with this instance ID already exists.","ExceptionMessage":"An Orchestration instance with the status Running already exists.","ExceptionType":"DurableTask.Core.Exceptions.OrchestrationAlreadyExistsException","StackTrace":null}`, ""},
		{"restart unknown", "POST", "instances/nope/restart", "", nil, 400, `{"Message":"InstanceId does not match a valid orchestration instance.","ExceptionMessage":"No instance with ID 'nope' was found. (Parameter 'instanceId')","ExceptionType":"System.ArgumentException","StackTrace":null}`, ""},
		{"restart with an id", "POST", "instances/completed/restartWithOptions?newInstanceId=o8", "", nil, 202, linksOf("o8"), `start Order o8 {"n":1} http`},
		{"restart with a bad id", "POST", "instances/completed/restartWithOptions?newInstanceId=@o8", "", nil, 400, argument(`"Orchestration instance ids must not start with @."`), ""},
		{"restart with an id in use", "POST", "instances/completed/restartWithOptions?newInstanceId=running", "", nil, 409,
			`{"Message":"A non-terminal instance with this instance ID already exists.","ExceptionMessage":"An Orchestration instance with the status Running already exists.","ExceptionType":"DurableTask.Core.Exceptions.OrchestrationAlreadyExistsException","StackTrace":null}`, ""},
		{"restart without the id", "POST", "instances/completed/restartWithOptions", "", nil, 400, `{"Message":"A new orchestration instance ID must be provided."}`, ""},

		{"purge", "DELETE", "instances/completed", "", nil, 200, `{"instancesDeleted":1}`, "purge completed http"},
		{"purge unknown", "DELETE", "instances/nope", "", nil, 404, "", ""},
		{"purge running", "DELETE", "instances/running", "", nil, 412, `"Only orchestrations in a terminal state can be purged, but the orchestration with instance ID running has status Running"`, ""},
		{"purge an entity that is not there", "DELETE", "instances/@a@b", "", nil, 200, `{"instancesDeleted":0}`, ""},
		{"purge without a time", "DELETE", "instances", "", nil, 400, `"Please provide value for 'createdTimeFrom' parameter."`, ""},
		{"purge with a time that is none", "DELETE", "instances?createdTimeFrom=soon", "", nil, 400, `"Please provide value for 'createdTimeFrom' parameter."`, ""},
		{"purge all", "DELETE", "instances?createdTimeFrom=2029-12-31", "", nil, 200, `{"instancesDeleted":6}`, ""},
		{"purge some", "DELETE", "instances?createdTimeFrom=2029-12-31T00:00:00Z&runtimeStatus=Failed,Nope,Completed", "", nil, 200, `{"instancesDeleted":2}`, ""},
		{"purge none", "DELETE", "instances?createdTimeFrom=2031-01-01", "", nil, 404, "", ""},

		{"signal", "POST", "entities/Counter/k?op=add", "5", js, 202, "", "signal @counter@k add 5 http"},
		{"signal as text", "POST", "entities/counter/k?op=add", "5", []string{"Content-Type", "text/plain"}, 202, "", `signal @counter@k add "5" http`},
		{"signal without input or operation", "POST", "entities/counter/k", "", nil, 202, "", "signal @counter@k   http"},
		{"signal with a dollar", "POST", "entities/counter/$?op=x", "", nil, 202, "", "signal @counter@$ x  http"},
		{"signal without a key", "POST", "entities/counter?op=x", "", nil, 202, "", "signal @counter@ x  http"},
		{"signal with bad JSON", "POST", "entities/counter/k", "{", js, 400, `{"Message":"Could not parse JSON content: The text is no JSON at line 1, position 1."}`, ""},
		{"signal to an unknown one", "POST", "entities/nope/k", "", nil, 400, `{"Message":"The function 'nope' doesn't exist, is disabled, or is not an entity function. Additional info: The following are the known entity functions: 'counter'."}`, ""},
		{"delete an entity", "DELETE", "entities/counter/k", "", nil, 202, "", "signal @counter@k delete  http"},
		{"state", "GET", "entities/Counter/full", "", nil, 200, `{"n":3}`, ""},
		{"state of the empty key", "GET", "entities/counter/$", "", nil, 200, "7", ""},
		{"state of none", "GET", "entities/counter/nope", "", nil, 404, "", ""},
		{"entities of an unknown name", "GET", "entities/nope", "", nil, 200, "[]", ""},

		{"make primary", "PUT", "makeprimary", "", nil, 200, "", ""},
		{"another path", "GET", "orchestrators", "", nil, 404, "", ""},
		{"another method", "PUT", "instances/running", "", nil, 404, "", ""},
		{"another command", "POST", "instances/running/pause", "", nil, 404, "", ""},
		{"the top", "GET", "", "", nil, 404, "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.standing()
			b.hub.states[durable.EntityID{Name: "counter", Key: "full"}] = `{"n":3}`
			b.hub.states[durable.EntityID{Name: "counter"}] = "7"
			got := b.ask(durabletask.WebHook, test.method, test.path, test.body, test.header...)
			if got.status != test.status || got.body != test.want {
				t.Errorf("%s %s: got %d %s\nwant %d %s", test.method, test.path, got.status, got.body, test.status, test.want)
			}
			if calls := strings.Join(b.hub.calls, "; "); calls != test.calls {
				t.Errorf("%s %s: asked the hub for %q, want %q", test.method, test.path, calls, test.calls)
			}
		})
	}
}

// The status of instances (T-54).
func TestStatus(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]reply{
		"instances/running": {202, http.Header{"Location": {"http://localhost:7099/runtime/webhooks/durabletask/instances/running"}, "Retry-After": {"0"}},
			`{"name":"Order","instanceId":"running","runtimeStatus":"Running","input":{"n":1},"customStatus":null,"output":null,"createdTime":"2030-01-01T09:00:00Z","lastUpdatedTime":"2030-01-01T09:00:00Z"}`},
		"instances/suspended?showInput=false": {202, http.Header{"Location": {"http://localhost:7099/runtime/webhooks/durabletask/instances/suspended?showInput=false"}, "Retry-After": {"0"}},
			`{"name":"Order","instanceId":"suspended","runtimeStatus":"Suspended","input":null,"customStatus":null,"output":null,"createdTime":"2030-01-01T09:00:00Z","lastUpdatedTime":"2030-01-01T09:00:00Z"}`},
		"instances/failed": {200, http.Header{},
			`{"name":"Order","instanceId":"failed","runtimeStatus":"Failed","input":{"n":1},"customStatus":null,"output":"Orchestrator function 'Order' failed: 5","createdTime":"2030-01-01T09:00:00Z","lastUpdatedTime":"2030-01-01T09:00:00Z"}`},
		"instances/failed?returnInternalServerErrorOnFailure=true&showinput=False": {500, http.Header{},
			`{"name":"Order","instanceId":"failed","runtimeStatus":"Failed","input":null,"customStatus":null,"output":"Orchestrator function 'Order' failed: 5","createdTime":"2030-01-01T09:00:00Z","lastUpdatedTime":"2030-01-01T09:00:00Z"}`},
		"instances/odd": {200, http.Header{},
			`{"name":"Order","version":"1.2","instanceId":"odd","parentInstanceId":"o7","runtimeStatus":"Completed","input":null,"customStatus":"no JSON","output":[1,"<a>"],"createdTime":"2030-01-01T09:00:00Z","lastUpdatedTime":"2030-01-01T09:00:01Z"}`},
		"instances/none":             {404, http.Header{}, ""},
		"instances/completed/status": {404, http.Header{}, ""},
	} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.standing()
			b.hub.put(durable.Instance{ID: "odd", Name: "Order", Version: "1.2", Parent: "o7", Status: durable.Completed, CustomStatus: text("no JSON"), Output: text(`[1, "<a>"]`), Created: epoch, Updated: epoch.Add(1999 * time.Millisecond)})
			got := b.ask(durabletask.WebHook, "GET", path, "")
			got.header.Del("Content-Type")
			got.header.Del("Content-Length")
			if diff := cmp.Diff(want, got, cmp.AllowUnexported(reply{})); diff != "" {
				t.Errorf("GET %s (-want +got):\n%s", path, diff)
			}
		})
	}
}

// At the pace of real time callers are asked to wait (DF-8).
func TestRetryAfter(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.standing()
	b.clk.Real()
	for path, want := range map[string]string{"POST orchestrators/Order": "10", "GET instances/running": "5"} {
		method, path, _ := strings.Cut(path, " ")
		if got := b.ask(durabletask.WebHook, method, path, "").header.Get("Retry-After"); got != want {
			t.Errorf("%s %s: Retry-After %q, want %q", method, path, got, want)
		}
	}
}

// A start that waits (spec durable 11.4; T-60).
func TestStartAndWait(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		end    func(*durable.Instance)
		status int
		body   string
		after  time.Duration
	}{
		{"completed", func(i *durable.Instance) { i.Status, i.Output = durable.Completed, text(`{"ok":true}`) }, 200, `{"ok":true}`, 10 * time.Second},
		{"completed without output", func(i *durable.Instance) { i.Status = durable.Completed }, 200, `null`, 10 * time.Second},
		{"failed", func(i *durable.Instance) { i.Status, i.Output = durable.Failed, text("bad") }, 200,
			`{"name":"Order","instanceId":"o7","runtimeStatus":"Failed","input":null,"customStatus":null,"output":"bad","createdTime":"2030-01-01T09:00:00Z","lastUpdatedTime":"2030-01-01T09:00:00Z"}`, 10 * time.Second},
		{"never", nil, 202, linksOf("o7"), 30 * time.Second},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			if test.end != nil {
				b.hub.ends["o7"], b.hub.due["o7"] = test.end, epoch.Add(10*time.Second)
			}
			got := b.ask(durabletask.WebHook, "POST", "orchestrators/Order/o7?timeout=30&pollingInterval=1", "")
			if got.status != test.status || got.body != test.body {
				t.Errorf("got %d %s, want %d %s", got.status, got.body, test.status, test.body)
			}
			if passed := b.clk.Now().Sub(epoch).Round(time.Second); passed != test.after {
				t.Errorf("%s passed, want %s", passed, test.after)
			}
		})
	}
}

// A status request by RPC lets the clock go on by a second while the instance is not finished,
// and one at the web hook does not (DF-9; T-59).
func TestPollsMoveTheClock(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.clk.SetPace(clock.Manual)
	start := b.clk.Now()
	b.hub.ends["o7"], b.hub.due["o7"] = func(i *durable.Instance) { i.Status = durable.Completed }, epoch.Add(3*time.Second)
	b.hub.put(durable.Instance{ID: "o7", Name: "Order", Status: durable.Running})
	if got := b.ask(durabletask.WebHook, "GET", "instances/o7", ""); got.status != 202 || !b.clk.Now().Equal(start) {
		t.Fatalf("web hook: got %d at %s", got.status, b.clk.Now())
	}
	b.clk.Auto()
	var codes []int
	for range 4 {
		codes = append(codes, b.ask(durabletask.RPC, "GET", "instances/o7", "").status)
	}
	if diff := cmp.Diff([]int{202, 202, 200, 200}, codes); diff != "" {
		t.Errorf("four polls (-want +got):\n%s", diff)
	}
}

// A list in pages: after the last one the web hook sends no token and the RPC server an empty
// one (T-56).
func TestPages(t *testing.T) {
	t.Parallel()
	for door, last := range map[durabletask.Door][]string{durabletask.WebHook: nil, durabletask.RPC: {""}} {
		b := newBench(t)
		for n := range 250 {
			b.hub.put(durable.Instance{ID: fmt.Sprintf("i%03d", n), Name: "Order", Status: durable.Running})
		}
		var sizes []int
		token := ""
		for range 3 {
			got := b.ask(door, "GET", "instances?top=100&runtimeStatus=Nope", "", "x-ms-continuation-token", token+" ")
			var page []map[string]any
			if err := json.Unmarshal([]byte(got.body), &page); err != nil {
				t.Fatalf("%v in %s", err, got.body)
			}
			sizes = append(sizes, len(page))
			if token = got.header.Get("X-Ms-Continuation-Token"); token == "" {
				if diff := cmp.Diff(last, got.header["X-Ms-Continuation-Token"]); diff != "" {
					t.Errorf("door %d: token after the last page (-want +got):\n%s", door, diff)
				}
			}
		}
		if diff := cmp.Diff([]int{100, 100, 50}, sizes); diff != "" {
			t.Errorf("door %d: pages (-want +got):\n%s", door, diff)
		}
		if got := b.ask(door, "GET", "instances", "", "x-ms-continuation-token", "%%"); got.status != 400 {
			t.Errorf("door %d: a token of nobody: got %d %s", door, got.status, got.body)
		}
	}
}

// Entities in a list have their state only where it is asked for.
func TestEntities(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.hub.states[durable.EntityID{Name: "counter", Key: "k"}] = "7"
	for path, want := range map[string]string{
		"entities":                         `[{"entityId":{"name":"counter","key":"k"},"lastOperationTime":"2030-01-01T09:00:00Z","state":null}]`,
		"entities/Counter?fetchState=TRUE": `[{"entityId":{"name":"counter","key":"k"},"lastOperationTime":"2030-01-01T09:00:00Z","state":7}]`,
	} {
		if got := b.ask(durabletask.WebHook, "GET", path, ""); got.body != want {
			t.Errorf("GET %s: got %s, want %s", path, got.body, want)
		}
	}
}

// Another hub of the host is asked by its name, and links name it.
func TestAnotherHub(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.standing()
	if got := b.ask(durabletask.WebHook, "GET", "instances/running?TaskHub=Other", ""); got.status != 404 {
		t.Errorf("an instance of the first hub in another one: got %d", got.status)
	}
	if got := b.ask(durabletask.WebHook, "POST", "orchestrators/Order?taskhub=Other&connection=Conn", "").body; !strings.Contains(got, "?taskHub=Other&connection=Conn&code=k1") {
		t.Errorf("links of another hub: %s", got)
	}
}

// The RPC server: its own origin in links, no pages of browsers, none before it is asked for.
func TestRPC(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	in, err := b.api.Client(b.hub, "Conn", true)
	if err != nil {
		t.Fatal(err)
	}
	url := in.RPCBaseURL
	if again, err := b.api.RPC(); err != nil || again != url || !strings.HasSuffix(url, "/durabletask/") {
		t.Fatalf("RPC: got %s and %s, %v", url, again, err)
	}
	post := func(header ...string) (int, string) {
		r, err := http.NewRequestWithContext(context.Background(), "POST", url+"orchestrators/Order/o7", strings.NewReader(`""`))
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		return resp.StatusCode, resp.Header.Get("Location")
	}
	if code, _ := post("Origin", "http://evil.example"); code != 403 {
		t.Errorf("a page: got %d, want 403", code)
	}
	want := strings.TrimSuffix(url, "/durabletask/") + "/runtime/webhooks/durabletask/instances/o7?taskHub=TestHubName&connection=Storage&code=k1"
	if code, location := post(); code != 202 || location != want {
		t.Errorf("a start: got %d, %s, want 202, %s", code, location, want)
	}
	if got := strings.Join(b.hub.calls, ";"); got != `start Order o7 "" rpc` {
		t.Errorf("asked the hub for %s", got)
	}
}

// What a function with a durableClient is given (spec durable 8.5; T-57, T-58).
func TestClientInput(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	in, err := b.api.Client(b.hub, "", false)
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	var have, want any
	text := `{"taskHubName":"TestHubName","connectionName":null,"creationUrls":{
		"createNewInstancePostUri":"http://localhost:7099/runtime/webhooks/durabletask/orchestrators/{functionName}[/{instanceId}]?code=k1",
		"createAndWaitOnNewInstancePostUri":"http://localhost:7099/runtime/webhooks/durabletask/orchestrators/{functionName}[/{instanceId}]?timeout={timeoutInSeconds}&pollingInterval={intervalInSeconds}&code=k1"},
		"managementUrls":` + linksOf("INSTANCEID") + `,"baseUrl":"http://localhost:7099/runtime/webhooks/durabletask","requiredQueryStringParameters":"code=k1",
		"maxGrpcMessageSizeInBytes":null,"grpcHttpClientTimeout":null,"httpBaseUrl":null}`
	for _, err := range []error{json.Unmarshal(got, &have), json.Unmarshal([]byte(text), &want)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(want, have); diff != "" {
		t.Errorf("client input (-want +got):\n%s", diff)
	}
}

// The history as it is told (spec durable 8.4; T-55).
func TestHistory(t *testing.T) {
	t.Parallel()
	at := func(s int) time.Time { return epoch.Add(time.Duration(s)*time.Second + 1500*time.Microsecond) }
	history := []durable.Event{
		{Type: durable.OrchestratorStarted, ID: -1, Time: at(0)},
		{Type: durable.ExecutionStarted, ID: -1, Time: at(0), Name: "Order", InstanceID: "o7", Input: text(`{"n":1}`), Starts: 1},
		{Type: durable.TaskScheduled, ID: 0, Time: at(0), Name: "Charge", Input: text("[1]")},
		{Type: durable.TaskScheduled, ID: 1, Time: at(0), Name: "Ship"},
		{Type: durable.SubOrchestrationInstanceCreated, ID: 2, Time: at(0), Name: "Kid", InstanceID: "e:2"},
		{Type: durable.TimerCreated, ID: 3, Time: at(0), FireAt: at(9)},
		{Type: durable.TaskScheduled, ID: 4, Time: at(0), Name: "Open"},
		{Type: durable.OrchestratorCompleted, ID: -1, Time: at(0)},
		{Type: durable.OrchestratorStarted, ID: -1, Time: at(1)},
		{Type: durable.TaskCompleted, ID: -1, Time: at(1), Task: 0, Result: text(`{"paid":true}`)},
		{Type: durable.TaskFailed, ID: -1, Time: at(1), Task: 1, Reason: text("no"), Details: text("x")},
		{Type: durable.SubOrchestrationInstanceCompleted, ID: -1, Time: at(2), Task: 2, Result: text("5")},
		{Type: durable.TimerFired, ID: -1, Time: at(9), Task: 3, FireAt: at(9)},
		{Type: durable.EventRaised, ID: -1, Time: at(9), Name: "ok", Input: text("true")},
		{Type: durable.ExecutionCompleted, ID: 5, Time: at(9), Status: durable.Completed, Result: text("1")},
	}
	const rest = `{"EventType":"TimerCreated","FireAt":"2030-01-01T09:00:09.0015Z","Timestamp":"2030-01-01T09:00:00.0015Z"},
		{"EventType":"TaskScheduled","Input":null,"Name":"Open","ParentTraceContext":null,"Tags":null,"Timestamp":"2030-01-01T09:00:00.0015Z"},
		{"EventType":"TaskCompleted","FunctionName":"Charge","ScheduledTime":"2030-01-01T09:00:00.0015+00:00","Timestamp":"2030-01-01T09:00:01.0015Z" INPUT PAID},
		{"Details":"x","EventType":"TaskFailed","FailureDetails":null,"FunctionName":"Ship","Reason":"no","ScheduledTime":"2030-01-01T09:00:00.0015+00:00","Timestamp":"2030-01-01T09:00:01.0015Z" INPUT},
		{"EventType":"SubOrchestrationInstanceCompleted","FunctionName":"Kid","InstanceId":"e:2","ScheduledTime":"2030-01-01T09:00:00.0015+00:00","Timestamp":"2030-01-01T09:00:02.0015Z" INPUT FIVE},
		{"EventType":"TimerFired","FireAt":"2030-01-01T09:00:09.0015Z","Timestamp":"2030-01-01T09:00:09.0015Z"},
		{"EventType":"EventRaised","Input":"true","Name":"ok","ParentTraceContext":null,"Timestamp":"2030-01-01T09:00:09.0015Z"},
		{"EventType":"ExecutionCompleted","FailureDetails":null,"OrchestrationStatus":"Completed","Timestamp":"2030-01-01T09:00:09.0015Z" ONE}]`
	const begin = `[{"Correlation":null,"EventType":"ExecutionStarted","FunctionName":"Order","GenerateNewTrace":false,"Generation":0,"ParentTraceContext":null,"ScheduledStartTime":null,"Timestamp":"2030-01-01T09:00:00.0015Z" FIRST},`
	for query, words := range map[string][]string{
		"?showHistory=true":                            {" FIRST", `,"Input":"{\"n\":1}"`, " INPUT", `,"Input":null`, " PAID", "", " FIVE", "", " ONE", ""},
		"?showHistory=true&showHistoryOutput=true":     {" FIRST", `,"Input":"{\"n\":1}"`, " INPUT", `,"Input":null`, " PAID", `,"Result":{"paid":true}`, " FIVE", `,"Result":5`, " ONE", `,"Result":1`},
		"?showHistory=true&showInput=false":            {" FIRST", "", " INPUT", "", " PAID", "", " FIVE", "", " ONE", ""},
		"?showHistoryOutput=true&showHistory=nonsense": nil,
	} {
		b := newBench(t)
		b.hub.put(durable.Instance{ID: "o7", Name: "Order", Status: durable.Completed, History: history})
		var got struct{ HistoryEvents any }
		if err := json.Unmarshal([]byte(b.ask(durabletask.WebHook, "GET", "instances/o7"+query, "").body), &got); err != nil {
			t.Fatal(err)
		}
		var want any
		if words != nil {
			if err := json.Unmarshal([]byte(strings.NewReplacer(words...).Replace(begin+rest)), &want); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(want, got.HistoryEvents); diff != "" {
			t.Errorf("%s (-want +got):\n%s", query, diff)
		}
	}
}

// What workers are told of the host's place (spec durable 2.1).
func TestWebsite(t *testing.T) {
	t.Parallel()
	api := durabletask.New(&durabletask.Options{})
	for origin, want := range map[string]string{"": "", "http://127.0.0.1:7099": "localhost:7099", "http://[::]:7100": "localhost:7100"} {
		api.ServedAt(origin, nil)
		if got := api.Website(); got != want {
			t.Errorf("served at %q: %q, want %q", origin, got, want)
		}
	}
}
