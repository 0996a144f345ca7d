package hosttest_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host/faults"
	"github.com/redeliver/redeliver/host/hosttest"
	"github.com/redeliver/redeliver/host/ops/queues"
	"github.com/redeliver/redeliver/triggers"
)

// manyKinds is an app with a function of most kinds, all of which succeed.
func manyKinds() *hosttest.Options {
	handlers := functions.New()
	for _, name := range []string{"Ship", "Bus", "News", "Meter", "Pic", "Feed", "Mail"} {
		handlers.Handle(name, func(context.Context, *functions.Trigger) error { return nil })
	}
	handlers.HTTP("Quote", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "7") })
	one := func(binding string) string {
		return `{"bindings": [{"direction": "in", "name": "item", ` + binding + `}]}`
	}
	return &hosttest.Options{Handlers: handlers, Files: map[string]string{
		"Ship/function.json":  one(`"type": "queueTrigger", "queueName": "parcels"`),
		"Bus/function.json":   one(`"type": "serviceBusTrigger", "queueName": "orders"`),
		"News/function.json":  one(`"type": "serviceBusTrigger", "topicName": "news", "subscriptionName": "all"`),
		"Meter/function.json": one(`"type": "eventHubTrigger", "eventHubName": "readings", "consumerGroup": "meters"`),
		"Pic/function.json":   one(`"type": "blobTrigger", "path": "pictures/{n}"`),
		"Feed/function.json":  one(`"type": "cosmosDBTrigger", "databaseName": "shop", "containerName": "orders", "createLeaseContainerIfNotExists": true`),
		"Mail/function.json":  `{"bindings": [{"type": "queueTrigger", "direction": "in", "name": "item", "queueName": "mails"}, {"type": "sendGrid", "direction": "out", "name": "mail"}]}`,
		"host.json":           `{"version": "2.0", "redeliver": {"eventGrid": {"topics": [{"name": "shop"}]}}}`,
	}}
}

// Calls of the kit that look right and prove nothing end the test, or fail it when it ends:
// each passed once.
func TestCallsThatProveNothing(t *testing.T) {
	t.Parallel()
	must := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	const hour = time.Hour
	for name, test := range map[string]struct {
		call func(h *hosttest.Host)
		want string
	}{
		"a queue that is nowhere is empty":          {func(h *hosttest.Host) { h.WantQueue("invoices") }, `there is no queue "invoices", and a look at it would hold whatever happens`},
		"a queue that is nowhere hides nothing":     {func(h *hosttest.Host) { h.WantHidden("invoices") }, `there is no queue "invoices"`},
		"a container that is nowhere has no blobs":  {func(h *hosttest.Host) { h.Blobs("invoices") }, `there is no container "invoices"`},
		"a container that is nowhere has no blob":   {func(h *hosttest.Host) { h.Download("invoices/a") }, `there is no container "invoices"`},
		"a group that is nowhere has no checkpoint": {func(h *hosttest.Host) { h.Checkpoint("readings", "metrs", "0") }, `there is no consumer group "metrs"; did you mean "meters"?`},
		"a partition without a checkpoint":          {func(h *hosttest.Host) { h.Checkpoint("readings", "meters", "77") }, `there is no partition "77"`},
		"a hub that is nowhere has no checkpoint":   {func(h *hosttest.Host) { h.Checkpoint("elsewhere", "meters", "0") }, `there is no event hub "elsewhere"`},
		"a topic holds no messages":                 {func(h *hosttest.Host) { h.ServiceBusMessages("news") }, `a topic holds no messages, its subscriptions do: news/Subscriptions/all`},
		"documents elsewhere":                       {func(h *hosttest.Host) { h.WriteCosmos("shop", "oders", `{"id":"1"}`) }, `there is no container "shop/oders" of Cosmos DB; did you mean "shop/orders"?`},
		"documents in a database of another case":   {func(h *hosttest.Host) { h.WriteCosmos("Shop", "orders", `{"id":"1"}`) }, `did you mean "shop/orders"?`},
		"documents of a container of another case":  {func(h *hosttest.Host) { h.CosmosItems("shop", "Orders") }, `did you mean "shop/orders"?`},
		"an operation that is refused":              {func(h *hosttest.Host) { hosttest.Do(h, queues.RedriveQueue{Queue: "parcels"}) }, `RedriveQueue: queue "parcels" is not a poison queue`},
		"an operation of a slip":                    {func(h *hosttest.Host) { hosttest.Do(h, queues.PurgeQueue{Queue: "parcles"}) }, `did you mean "parcels"?`},
		"no messages":                               {func(h *hosttest.Host) { h.SendAll("parcels") }, `no message is given`},
		"no messages of Service Bus":                {func(h *hosttest.Host) { h.SendServiceBus("orders") }, `no message is given`},
		"no events":                                 {func(h *hosttest.Host) { h.SendEvents("readings", "") }, `no event is given`},
		"no events of a topic":                      {func(h *hosttest.Host) { h.PublishEvents("shop", "[]") }, `no event is given`},
		"no documents":                              {func(h *hosttest.Host) { h.WriteCosmos("shop", "orders") }, `no document is given`},
		"time goes back":                            {func(h *hosttest.Host) { h.Advance(-hour) }, `Advance: -1h0m0s is negative`},
		"time jumps back":                           {func(h *hosttest.Host) { h.Jump(-hour) }, `Jump: -1h0m0s is negative`},
		"time runs back":                            {func(h *hosttest.Host) { h.Run(-hour) }, `Run: -1h0m0s is negative`},
		"a point that never comes":                  {func(h *hosttest.Host) { h.KillAt("Ship", hosttest.AfterHandler, 1) }, `KillAt: the delivery of Ship at point afterHandler never came`},
		"a point that comes too seldom":             {func(h *hosttest.Host) { h.KillAt("Ship", hosttest.AfterHandler, 2); h.Send("parcels", "x") }, `never came`},
		"a point in the place of another":           {func(h *hosttest.Host) { h.KillAt("Ship", "afterHandler", 1); h.KillAt("Bus", "afterHandler", 1) }, `the delivery of Ship at point afterHandler is still to come`},
		"a point before the first time":             {func(h *hosttest.Host) { h.KillAt("Ship", hosttest.AfterHandler, -1) }, `KillAt: found -1`},
		"a point of which the test knows nothing":   {func(h *hosttest.Host) { h.KillAt("Ship", "afterReceive", 1); h.Send("parcels", "x") }, `the test goes on with a host that is dead`},
		"a fault that nothing meets":                {func(h *hosttest.Host) { must(h.Inject(faults.Fault{Service: "queue", Operation: "Delete"})) }, `nothing has met the fault of Delete queue`},
		"a fault for a while that nothing meets": {func(h *hosttest.Host) {
			must(h.Inject(faults.Fault{Service: "queue", Operation: "Put", For: hour}))
			h.Advance(2 * hour)
		}, `nothing has met the fault of Put queue`},
		"a fault of a queue that is nowhere": {func(h *hosttest.Host) {
			must(h.Inject(faults.Fault{Service: "queue", Operation: "Delete", Entity: "parcells"}))
		}, `did you mean "parcels"?`},
		"a fault of an entity that is nowhere": {func(h *hosttest.Host) {
			must(h.Inject(faults.Fault{Service: "servicebus", Operation: "Complete", Entity: "oders"}))
		}, `did you mean "orders"?`},
		"a fault of a hub that is nowhere": {func(h *hosttest.Host) {
			must(h.Inject(faults.Fault{Service: "eventhubs", Operation: "Receive", Entity: "readngs"}))
		}, `did you mean "readings"?`},
		"a fault of a container that is nowhere": {func(h *hosttest.Host) {
			must(h.Inject(faults.Fault{Service: "blob", Operation: "Get", Entity: "pictres"}))
		}, `did you mean "pictures"?`},
		"a fault of documents that are nowhere": {func(h *hosttest.Host) {
			must(h.Inject(faults.Fault{Service: "cosmos", Operation: "Upsert", Entity: "shop/oders"}))
		}, `did you mean "shop/orders"?`},
		"a fault of a topic that is nowhere": {func(h *hosttest.Host) {
			must(h.Inject(faults.Fault{Service: "eventgrid", Operation: "Deliver", Entity: "shpo/index"}))
		}, `did you mean "shop"?`},
		"a fault of a handler that is nowhere": {func(h *hosttest.Host) { must(h.Inject(faults.Fault{Service: "handler", Entity: "Shipp"})) }, `did you mean "Ship"?`},
		"a fault of the case before": {func(h *hosttest.Host) {
			must(h.Inject(faults.Fault{Service: "queue", Operation: "Delete"}))
			h.Reset()
			h.Send("parcels", "x")
		}, `nothing has met the fault`},
		"an output that is not written":              {func(h *hosttest.Host) { must(h.FailOutput("Mail/mail", 1, "")) }, `FailOutput: output "Mail/mail" was not written`},
		"a caller without patience":                  {func(h *hosttest.Host) { h.RequestFor(0, "GET", "/api/Quote", "") }, `RequestFor: a caller who waits 0s`},
		"a caller of negative patience":              {func(h *hosttest.Host) { h.RequestFor(-hour, "GET", "/api/Quote", "") }, `RequestFor: a caller who waits -1h0m0s`},
		"a path without a slash":                     {func(h *hosttest.Host) { h.Request("GET", "api/Quote", "") }, `want a path that begins with a slash`},
		"a path with a host":                         {func(h *hosttest.Host) { h.Request("GET", "http://localhost:7071/api/Quote", "") }, `want a path that begins with a slash`},
		"a path that is nowhere":                     {func(h *hosttest.Host) { h.Request("GET", "/api/Qoute?x=1", "") }, `did you mean "/api/Quote"?`},
		"a removal of nothing":                       {func(h *hosttest.Host) { must(h.Remove("Shp/function.json")) }, `there is no file and no folder "Shp/function.json" to remove`},
		"an edit that nobody reads":                  {func(h *hosttest.Host) { must(h.Edit("Ship/functon.json", "{}")) }, `did you mean "Ship/function.json"?`},
		"a kind that no record has":                  {func(h *hosttest.Host) { h.AwaitKind("setled") }, `no record is of kind "setled"; did you mean "settled"?`},
		"a decision that nobody makes":               {func(h *hosttest.Host) { h.AwaitSettled("Ship", "poisonned") }, `no delivery is settled as "poisonned"; did you mean "poisoned"?`},
		"a decision that nobody makes, in a look":    {func(h *hosttest.Host) { h.WantSettled("Ship", "deletd") }, `did you mean "deleted"?`},
		"no function":                                {func(h *hosttest.Host) { h.WantAttempts("", 0) }, `the app has no function ""`},
		"a function that is nowhere, of a dead host": {func(h *hosttest.Host) { h.Kill(); h.WantAttempts("Shp", 0) }, `did you mean "Ship"?`},
		"a queue that is nowhere, of a dead host":    {func(h *hosttest.Host) { h.Kill(); h.WantQueue("parcels-posion") }, `did you mean "parcels-poison"?`},
		"the end of a host that is closed":           {func(h *hosttest.Host) { must(h.Close()); h.Kill() }, `Kill: the host does not run`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := failsIn(t, time.Minute, manyKinds(), test.call); !strings.Contains(got, test.want) {
				t.Errorf("it says %q, and not %q", got, test.want)
			}
		})
	}
}

// Options that have no effect, and apps that cannot run, end the test.
func TestOptionsThatProveNothing(t *testing.T) {
	t.Parallel()
	empty, bare := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(bare, "host.json"), []byte(`{"version": "2.0"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	with := func(change func(o *hosttest.Options)) *hosttest.Options {
		o := manyKinds()
		change(o)
		return o
	}
	anything := func(h *hosttest.Host) { h.WantAttempts("Anything", 0) }
	for name, test := range map[string]struct {
		opts *hosttest.Options
		then func(h *hosttest.Host)
		want string
	}{
		"a folder that is no app":           {&hosttest.Options{Dir: empty}, nil, `which is no app: it has no host.json and no function.json`},
		"a copy of a folder that is no app": {&hosttest.Options{Dir: empty, Files: map[string]string{}}, nil, `which is no app`},
		"an app without functions":          {&hosttest.Options{Dir: bare}, nil, `has no functions`},
		"an app that cannot load":           {&hosttest.Options{MayFail: true, Files: map[string]string{"host.json": `{"version": "1.0"}`}}, anything, `no app has run`},
		"a function in error":               {with(func(o *hosttest.Options) { o.MayFail = true; o.Files["Bus/function.json"] = `{"bindings": []}` }), nil, `function "Bus" is in error`},
		"an error of nobody":                {with(func(o *hosttest.Options) { o.InError = []string{"Shipp"} }), nil, `the app has no function "Shipp"; did you mean "Ship"?`},
		"only functions that are nowhere":   {with(func(o *hosttest.Options) { o.Functions = []string{"Shipp"} }), nil, `Options.Functions: the app has no function "Shipp"`},
		"nobody is switched off":            {with(func(o *hosttest.Options) { o.Env = []string{"AzureWebJobs.Shipp.Disabled=true"} }), nil, `the app has no function "Shipp"; did you mean "Ship"?`},
		"nobody is switched off by lines":   {with(func(o *hosttest.Options) { o.Env = []string{"AzureWebJobs_Metr_Disabled=true"} }), nil, `did you mean "Meter"?`},
		"a key that host.json has not": {with(func(o *hosttest.Options) {
			o.Env = []string{"AzureFunctionsJobHost__extensions__queues__maxDequeuCount=2"}
		}), nil, `maxDequeueCount`},
		"a setting without a value":    {with(func(o *hosttest.Options) { o.Env = []string{"NAME"} }), nil, `Options.Env has "NAME": want NAME=VALUE`},
		"a file that nobody reads":     {with(func(o *hosttest.Options) { o.Files["hosts.json"] = "{}" }), nil, `did you mean "host.json"?`},
		"a request that nobody takes":  {&hosttest.Options{Files: map[string]string{}}, func(h *hosttest.Host) { h.Request("POST", "/api/nope", "x") }, `the app has no function that requests reach`},
		"an overlay that nobody reads": {with(func(o *hosttest.Options) { o.Overlay = map[string]string{"Ship/functon.json": "{}"} }), nil, `did you mean "Ship/function.json"?`},
		"processors below none":        {with(func(o *hosttest.Options) { o.Processors = -1 }), nil, `Options.Processors is -1`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			then := test.then
			if then == nil {
				then = func(*hosttest.Host) {}
			}
			if got := failsIn(t, time.Minute, test.opts, then); !strings.Contains(got, test.want) {
				t.Errorf("it says %q, and not %q", got, test.want)
			}
		})
	}
}

// What a test says rightly of the same things holds: names with expressions, of a dead host,
// in another case where case does not count, faults that need not be met.
func TestCallsThatHold(t *testing.T) {
	t.Parallel()
	o := manyKinds()
	o.Files["Ship/function.json"] = `{"bindings": [{"type": "queueTrigger", "direction": "in", "name": "item", "queueName": "parcels"}, {"type": "queue", "direction": "out", "name": "out", "queueName": "to-{city}"}]}`
	h := hosttest.New(t, o)
	h.WantQueue("to-rome")
	h.WantQueue("parcels-poison")
	h.Blobs("azure-webjobs-hosts")
	for _, f := range []faults.Fault{{Service: "queue", Operation: "Delete", Optional: true}, {Service: "queue", Operation: "Create", Entity: "parcells", Optional: true}} {
		if err := h.Inject(f); err != nil {
			t.Error(err)
		}
	}
	h.Faults().Clear(h.Clock().Now())
	if err := h.FailOutput("Mail/mail", -1, ""); err != nil {
		t.Error(err)
	}
	if got := h.Request("GET", "/api/nothing-like-it", "").StatusCode; got != 404 {
		t.Errorf("status %d, want 404", got)
	}
	h.SendEvents("readings", "", "a")
	h.AwaitSettled("Meter", triggers.Checkpointed)
	partition := ""
	for _, p := range []string{"0", "1", "2", "3"} {
		if h.Checkpoint("Readings", "METERS", p) == 0 {
			partition = p
		}
	}
	if partition == "" {
		t.Error("names of another case have no checkpoint")
	}
	h.KillAt("Ship", hosttest.AfterHandler, 1)
	h.Send("parcels", "x")
	h.StartAgain() // it has come to the point
	h.AwaitSettled("Ship", triggers.Deleted)
	h.WantDeliveries("Ship", 1, 1)
	h.Kill()
	if got := h.Checkpoint("readings", "meters", partition); got != 0 {
		t.Errorf("the checkpoint of a dead host is %d, want 0", got)
	}
	h.Send("parcels", "y")
	h.StartAgain()
	h.SendServiceBus("orders", &servicebus.Message{Body: []byte("7")})
	h.WantAttempts("Bus", 1)
}
