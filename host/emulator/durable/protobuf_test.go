package durable_test

import (
	"context"
	"encoding/base64"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"

	api "github.com/redeliver/redeliver/bindings/durable"
	pb "github.com/redeliver/redeliver/host/emulator/sidecar/sidecarpb"
)

// written is a message in base64.
func written[M proto.Message](m M, text string) api.Reply {
	if err := prototext.Unmarshal([]byte(text), m); err != nil {
		panic(err)
	}
	b, err := proto.Marshal(m)
	if err != nil {
		panic(err)
	}
	return api.Reply{Value: `"` + base64.StdEncoding.EncodeToString(b) + `"`}
}

// sends is an orchestrator of the protobuf protocol: each turn has the actions of its place,
// and later ones those of the last.
func sends(list ...string) script {
	return func(t *api.Turn) api.Reply {
		return written(&pb.OrchestratorResponse{}, list[min(t.Number, len(list))-1])
	}
}

const (
	none = `instance_id: "i"`
	done = `actions {id: 9 complete_orchestration {status: ORCHESTRATION_STATUS_COMPLETED result {value: "\"done\""}}}`
)

// read is what an orchestrator was asked.
func read(t *testing.T, turn *api.Turn) *pb.OrchestratorRequest {
	t.Helper()
	out := &pb.OrchestratorRequest{}
	b, err := base64.StdEncoding.DecodeString(turn.Request)
	if err == nil {
		err = proto.Unmarshal(b, out)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func protobuf(b *bench, runtime string) {
	b.functions.Runtime, b.functions.Protocol = runtime, api.Protobuf
}

// 10.1, 10.2: .NET schedules arrays of one, Java the input itself; ends come in the next turn,
// and the history is in two parts.
func TestProtobufActivities(t *testing.T) {
	t.Parallel()
	for runtime, want := range map[string]string{"dotnet-isolated": `"a"`, "java": `["a"]`} {
		b := newBench(t, func(b *bench) {
			protobuf(b, runtime)
			b.orchestrators["Order"] = sends(`actions {schedule_task {name: "Charge" input {value: "[\"a\"]"}}}`, `actions {id: 1 create_timer {fire_at {seconds: 1893459600}}}`, done)
			b.activities["Charge"] = returns("5")
		})
		b.start("Order", "i")
		b.run()
		b.want("i", api.Completed, `"done"`)
		if got := b.ran[0].Input; got != want {
			t.Errorf("%s: the activity is given %s, want %s", runtime, got, want)
		}
		second := read(t, b.turns[1])
		if len(second.GetPastEvents()) != 4 || len(second.GetNewEvents()) != 2 || second.GetNewEvents()[1].GetTaskCompleted().GetResult().GetValue() != "5" {
			t.Errorf("%s: the second turn is asked %v", runtime, second)
		}
		ends := map[string]time.Duration{"dotnet-isolated": time.Hour, "java": time.Hour + time.Millisecond}[runtime] // T-87
		if got := b.instance("i"); got.Updated.Sub(got.Created) != ends {
			t.Errorf("%s: ended after %v, want %v", runtime, got.Updated.Sub(got.Created), ends)
		}
	}
}

// 5.8, 6.4, 10.2: what does not exist, and how failures are shown.
func TestProtobufFailures(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(b *bench) {
		protobuf(b, "dotnet-isolated")
		failed := `actions {id: 1 complete_orchestration {status: ORCHESTRATION_STATUS_FAILED result {value: "no"} failure_details {error_type: "T" error_message: "no"}}}`
		b.orchestrators["Order"] = sends(`actions {schedule_task {name: "Nope"}}`, failed)
		b.orchestrators["Parent"] = sends(`actions {create_sub_orchestration {name: "Order" instance_id: "kid"}}`, done)
		b.orchestrators["Throws"] = func(*api.Turn) api.Reply { return api.Reply{Failed: true, Message: "boom"} }
	})
	for _, name := range []string{"Order", "Parent", "Throws", "Missing"} {
		b.start(name, name)
	}
	b.run()
	order := b.want("Order", api.Failed, "T: no")
	b.want("Parent", api.Completed, `"done"`)
	b.want("Throws", api.Failed, "Function 'Throws' failed with an unhandled exception.")
	b.want("Missing", api.Failed, `{"message":"The function 'Missing' doesn't exist, is disabled, or is not an orchestrator function.`)
	var nope, end *api.Event
	for i := range order.History {
		switch e := &order.History[i]; e.Type {
		case api.TaskFailed:
			nope = e
		case api.ExecutionCompleted:
			end = e
		}
	}
	if nope == nil || !strings.HasPrefix(*nope.Reason, "The function 'Nope' doesn't exist") || nope.Details != nil || nope.Failure != nil {
		t.Errorf("an unknown activity ends with %+v", nope)
	}
	if end == nil || *end.Result != "no" {
		t.Errorf("the history ends with %+v, want the bare message", end)
	}
	var kid *api.Event
	for _, e := range b.instance("Parent").History {
		if e.Type == api.SubOrchestrationInstanceFailed {
			kid = &e
		}
	}
	if kid == nil || *kid.Reason != "no" || kid.Failure == nil || kid.Failure.Type != "T" {
		t.Errorf("the parent hears %+v", kid)
	}
}

// T-82: at continue-as-new an event that was carried over comes first, then one that the
// worker has sent to itself.
func TestProtobufContinueAsNew(t *testing.T) {
	t.Parallel()
	var second *api.Turn
	b := newBench(t, func(b *bench) {
		protobuf(b, "dotnet-isolated")
		b.orchestrators["Order"] = func(turn *api.Turn) api.Reply {
			if second = turn; turn.Parent == "" && strings.Contains(string(mustBase64(turn.Request)), "again") {
				return written(&pb.OrchestratorResponse{}, done)
			}
			return written(&pb.OrchestratorResponse{}, `actions {send_event {instance {instance_id: "i"} name: "mine" data {value: "1"}}}
				actions {id: 1 complete_orchestration {status: ORCHESTRATION_STATUS_CONTINUED_AS_NEW result {value: "\"again\""} new_version {value: "2"} carryover_events {event_raised {name: "carried" input {value: "2"}}}}}`)
		}
	})
	b.start("Order", "i")
	b.run()
	if got := b.want("i", api.Completed, `"done"`); got.Version != "2" {
		t.Errorf("the version is %q", got.Version)
	}
	var names []string
	for _, e := range read(t, second).GetNewEvents() {
		if raised := e.GetEventRaised(); raised != nil {
			names = append(names, raised.GetName())
		}
	}
	if got := strings.Join(names, " "); got != "carried mine" {
		t.Errorf("the next execution has the events %q", got)
	}
}

func mustBase64(text string) []byte {
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		panic(err)
	}
	return b
}

// 7.6: while one instance has the locks the other waits; then it has them, and operations of
// nobody are served behind it. A lock outlives the store.
func TestLocks(t *testing.T) {
	t.Parallel()
	lock := func(id string) string {
		return `actions {send_event {instance {instance_id: "@counter@a"} name: "op" data {value: '{"op":null,"id":"` + id + `","parent":"` + id + `","lockset":[{"name":"counter","key":"a"},{"name":"counter","key":"b"}]}'}}}`
	}
	call := func(id string) string {
		return `actions {id: 1 send_event {instance {instance_id: "@counter@b"} name: "op" data {value: '{"op":"by ` + id + `","id":"call-` + id + `","parent":"` + id + `"}'}}}`
	}
	release := func(id string) string {
		out := ""
		for i, key := range []string{"a", "b"} {
			out += `actions {id: ` + string(rune('2'+i)) + ` send_event {instance {instance_id: "@counter@` + key + `"} name: "release" data {value: '{"parent":"` + id + `","id":"` + id + `"}'}}}`
		}
		return out
	}
	var served []string
	b := newBench(t, func(b *bench) {
		protobuf(b, "dotnet-isolated")
		// the answer to the request for locks, an event, the answer to the call
		b.orchestrators["first"] = sends(lock("first"), none, call("first"), release("first")+done)
		b.orchestrators["second"] = sends(lock("second"), call("second"), release("second")+done)
		b.entities["counter"] = func(turn *api.Turn) api.Reply {
			asked := &pb.EntityBatchRequest{}
			if err := proto.Unmarshal(mustBase64(turn.Request), asked); err != nil {
				panic(err)
			}
			results := ""
			for _, op := range asked.GetOperations() {
				served = append(served, op.GetOperation())
				results += `results {success {result {value: "1"}}}`
			}
			return written(&pb.EntityBatchResult{}, results+`entity_state {value: "1"}`)
		}
	})
	b.start("first", "first")
	b.run()
	b.start("second", "second")
	b.do(func(ctx context.Context) error {
		return b.hub.Signal(ctx, api.EntityID{Name: "counter", Key: "b"}, "signal", "", time.Time{}, "http")
	})
	b.run()
	if len(served) != 0 {
		t.Errorf("served %q while another instance has the lock", served)
	}
	b.raise("first", "go", "1")
	b.run()
	b.want("first", api.Completed, `"done"`)
	b.want("second", api.Completed, `"done"`)
	if want := []string{"by first", "signal", "by second"}; !slices.Equal(served, want) && !slices.Equal(served, []string{"by first", "by second", "signal"}) {
		t.Errorf("served %q, want %q", served, want)
	}
}

// CleanEntityStorage: a lock whose owner has ended is released, and what waits goes on.
func TestOrphanedLock(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(b *bench) {
		protobuf(b, "dotnet-isolated")
		b.orchestrators["Order"] = sends(`actions {send_event {instance {instance_id: "@counter@a"} name: "op" data {value: '{"op":null,"id":"l","parent":"i","lockset":[{"name":"counter","key":"a"}]}'}}}`, done)
		b.entities["counter"] = func(*api.Turn) api.Reply {
			return written(&pb.EntityBatchResult{}, `results {success {}} entity_state {value: "1"}`)
		}
	})
	b.start("Order", "i")
	b.run()
	b.want("i", api.Completed, `"done"`)
	b.do(func(ctx context.Context) error {
		return b.hub.Signal(ctx, api.EntityID{Name: "counter", Key: "a"}, "add", "", time.Time{}, "http")
	})
	b.run()
	b.do(func(ctx context.Context) error {
		if _, err := b.hub.Entity(ctx, api.EntityID{Name: "counter", Key: "a"}); !api.Is(err, api.CodeNotFound) {
			t.Errorf("the signal was served: %v", err)
		}
		_, released, err := b.hub.Clean(ctx, true, true)
		if released != 1 {
			t.Errorf("%d locks are released, want 1", released)
		}
		return err
	})
	b.run()
	b.do(func(ctx context.Context) error {
		e, err := b.hub.Entity(ctx, api.EntityID{Name: "counter", Key: "a"})
		if err == nil && (*e.State != "1" || e.LockedBy != "") {
			t.Errorf("the entity is %+v", e)
		}
		return err
	})
}
