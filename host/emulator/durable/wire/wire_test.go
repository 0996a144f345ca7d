package wire_test

import (
	"encoding/base64"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"

	"github.com/redeliver/redeliver/bindings/durable"
	"github.com/redeliver/redeliver/host/emulator/durable/plan"
	"github.com/redeliver/redeliver/host/emulator/durable/wire"
	pb "github.com/redeliver/redeliver/host/emulator/sidecar/sidecarpb"
)

var start = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)

var none = map[string]any{} // read only

func ptr(s string) *string { return &s }

// message writes text as a message in base64.
func message[M proto.Message](t *testing.T, m M, text string) string {
	t.Helper()
	if err := prototext.Unmarshal([]byte(text), m); err != nil {
		t.Fatal(err)
	}
	b, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(b)
}

// reply is an OrchestratorResponse as the value of an invocation, with a field that nobody
// knows.
func reply(t *testing.T, text string) *durable.Reply {
	t.Helper()
	b, _ := base64.StdEncoding.DecodeString(message(t, &pb.OrchestratorResponse{}, text))
	b = protowire.AppendString(protowire.AppendTag(b, 999, protowire.BytesType), "later")
	return &durable.Reply{Value: `"` + base64.StdEncoding.EncodeToString(b) + `"`}
}

// history is the beginning of every history: S X of spec durable 4.12, and more.
func history(more ...durable.Event) []durable.Event {
	return append([]durable.Event{
		{Type: durable.OrchestratorStarted, ID: -1, Time: start}, {Type: durable.ExecutionStarted, ID: -1, Time: start, Name: "Order", InstanceID: "i", ExecutionID: "e"},
	}, more...)
}

// What a worker wants becomes the events of the history and the end (spec durable 10.2).
func TestRead(t *testing.T) {
	t.Parallel()
	scheduled := durable.Event{Type: durable.TaskScheduled, ID: 0, Name: "Hello"}
	call := durable.Event{Type: durable.EventSent, ID: 0, Name: "op", InstanceID: "@counter@k", Input: ptr(`{"op":"Get","id":"u-1","parent":"i"}`)}
	for name, tt := range map[string]struct {
		history []durable.Event
		reply   string
		events  []durable.Event
		outcome *plan.Outcome
		open    []durable.Open
		carried []durable.Event
		custom  *string
		version *string
		finding string
	}{
		"an activity and a timer": {
			reply:  `actions {id: 1 create_timer {fire_at {seconds: 1893459600}}} actions {schedule_task {name: "Hello" version {value: "1.5"} input {value: "[\"a\"]"} tags {key: "k" value: "v"}}} custom_status {value: "\"two\""}`,
			events: []durable.Event{{Type: durable.TaskScheduled, Name: "Hello", Version: "1.5", Input: ptr(`["a"]`), Tags: map[string]string{"k": "v"}}, {Type: durable.TimerCreated, ID: 1, FireAt: start.Add(time.Hour)}},
			open:   []durable.Open{{Number: 0, What: "activity", Name: "Hello"}, {Number: 1, What: "timer", Due: start.Add(time.Hour)}}, custom: ptr(`"two"`),
		},
		"a child without an id has one of the host's": {
			reply:  `actions {id: 3 create_sub_orchestration {name: "Chain" input {value: "1"}}}`,
			events: []durable.Event{{Type: durable.SubOrchestrationInstanceCreated, ID: 3, Name: "Chain", InstanceID: "e:3", Input: ptr("1")}},
			open:   []durable.Open{{Number: 3, What: "child", Name: "e:3"}},
		},
		"a call to an entity waits for its id": {
			history: history(call, durable.Event{Type: durable.EventRaised, ID: -1, Name: "other"}), open: []durable.Open{{Number: 0, What: "call", Name: "@counter@k"}},
		},
		"an answer ends a call": {
			history: history(call, durable.Event{Type: durable.EventRaised, ID: -1, Name: "u-1"}), open: []durable.Open{{Number: -1, What: "event", Name: wire.AnyEvent}},
		},
		"completed with something open": {
			history: history(scheduled), reply: `actions {id: 1 complete_orchestration {status: ORCHESTRATION_STATUS_COMPLETED result {value: "\"x\""}}}`,
			outcome: &plan.Outcome{Status: durable.Completed, Number: 1, Value: ptr(`"x"`)},
		},
		"failed": {
			reply:   `actions {complete_orchestration {status: ORCHESTRATION_STATUS_FAILED result {value: "kaputt"} failure_details {error_type: "T" error_message: "kaputt" stack_trace {value: "at x"} inner_failure {error_type: "U" error_message: "inner"}}}}`,
			outcome: &plan.Outcome{Status: durable.Failed, Value: ptr("kaputt"), Output: ptr("T: kaputt"), Failure: &durable.Failure{Type: "T", Message: "kaputt", Stack: "at x", Properties: none, Inner: &durable.Failure{Type: "U", Message: "inner", Properties: none}}},
		},
		"again, with an event carried over and one to itself": {
			reply:   `actions {id: 0 send_event {instance {instance_id: "i"} name: "x" data {value: "1"}}} actions {id: 1 complete_orchestration {status: ORCHESTRATION_STATUS_CONTINUED_AS_NEW result {value: "2"} new_version {value: "3"} carryover_events {event_raised {name: "y" input {value: "3"}}} carryover_events {orchestrator_started {}}}}`,
			events:  []durable.Event{{Type: durable.EventSent, Name: "x", InstanceID: "i", Input: ptr("1")}},
			outcome: &plan.Outcome{Status: durable.ContinuedAsNew, Number: 1, Value: ptr("2")}, version: ptr("3"),
			carried: []durable.Event{{Type: durable.EventRaised, ID: -1, Name: "y", Input: ptr("3")}},
		},
		"what was scheduled comes again": {
			history: history(scheduled), reply: `actions {schedule_task {name: "hello"}}`, open: []durable.Open{{Number: 0, What: "activity", Name: "Hello"}},
		},
		"another name under the number": {
			history: history(scheduled), reply: `actions {schedule_task {name: "Bye"}}`, finding: plan.Nondeterministic,
			outcome: plan.Mismatched(&scheduled, &durable.Event{Type: durable.TaskScheduled, Name: "Bye"}, 1),
		},
		"the worker's own word on that wins": {
			history: history(scheduled), reply: `actions {schedule_task {name: "Bye"}} actions {id: 1 complete_orchestration {status: ORCHESTRATION_STATUS_FAILED failure_details {error_type: "N" error_message: "m"}}}`,
			outcome: &plan.Outcome{Status: durable.Failed, Number: 1, Value: ptr("m"), Output: ptr("N: m"), Failure: &durable.Failure{Type: "N", Message: "m", Properties: none}},
		},
	} {
		in := &plan.Instance{ID: "i", Execution: "e", Name: "Order"}
		if tt.history == nil {
			tt.history = history()
		}
		got := wire.Read(in, tt.history, reply(t, tt.reply))
		finding := ""
		if len(got.Findings) > 0 {
			finding = got.Findings[0].Name
		}
		for _, diff := range []string{
			cmp.Diff(got.Events, tt.events), cmp.Diff(got.Outcome, tt.outcome), cmp.Diff(got.Open, tt.open), cmp.Diff(got.Carried, tt.carried),
			cmp.Diff(got.Custom, tt.custom), cmp.Diff(got.Version, tt.version), cmp.Diff(finding, tt.finding),
		} {
			if diff != "" {
				t.Errorf("%s (-got +want):\n%s", name, diff)
			}
		}
		if len(got.Scheduled) != len(got.Events) {
			t.Errorf("%s: %d events, %d say what they are for", name, len(got.Events), len(got.Scheduled))
		}
	}
}

// What is no reply fails the instance, with the platform's text.
func TestReadFailures(t *testing.T) {
	t.Parallel()
	for name, r := range map[string]*durable.Reply{
		"failed": {Failed: true, Message: "boom"}, "nothing": {}, "null": {Value: "null"}, "an empty text": {Value: `""`}, "no base64": {Value: `"?"`}, "no message": {Value: `"////"`},
	} {
		got := wire.Read(&plan.Instance{Name: "Order"}, history(durable.Event{Type: durable.TimerCreated, ID: 4}), r)
		if got.Outcome == nil || got.Outcome.Status != durable.Failed || *got.Outcome.Value != "Function 'Order' failed with an unhandled exception." || got.Outcome.Number != 5 || got.Outcome.Failure == nil {
			t.Errorf("%s: %+v", name, got.Outcome)
		}
	}
	memory := `actions {complete_orchestration {status: ORCHESTRATION_STATUS_FAILED failure_details {error_type: "T" inner_failure {error_type: "System.OutOfMemoryException"}}}}`
	if !wire.Read(&plan.Instance{}, history(), reply(t, memory)).OutOfMemory {
		t.Error("want of memory is not noticed")
	}
}

// A request has the history in two parts, and what .NET needs of properties (spec durable 10.2).
func TestRequest(t *testing.T) {
	t.Parallel()
	events := history(
		durable.Event{Type: durable.TaskScheduled, ID: 0, Time: start, Name: "Hello", Input: ptr(`["a"]`)}, durable.Event{Type: durable.OrchestratorCompleted, ID: -1, Time: start},
		durable.Event{Type: durable.OrchestratorStarted, ID: -1, Time: start.Add(time.Second)},
		durable.Event{Type: durable.TaskFailed, ID: -1, Time: start, Task: 0, Reason: ptr("no such function")},
	)
	var past, fresh []byte
	for i := range events {
		if i < 4 {
			past = wire.AppendPast(past, &events[i])
		} else {
			fresh = wire.AppendNew(fresh, &events[i])
		}
	}
	b, err := base64.StdEncoding.DecodeString(wire.Request(&wire.Header{InstanceID: "i", ExecutionID: "e"}, past, fresh))
	if err != nil {
		t.Fatal(err)
	}
	got, want := &pb.OrchestratorRequest{}, &pb.OrchestratorRequest{}
	if err := proto.Unmarshal(b, got); err != nil {
		t.Fatal(err)
	}
	message(t, want, `instance_id: "i" execution_id {value: "e"} entity_parameters {message_reorder_window {}}
		past_events {event_id: -1 timestamp {seconds: 1893456000} orchestrator_started {}}
		past_events {event_id: -1 timestamp {seconds: 1893456000} execution_started {name: "Order" orchestration_instance {instance_id: "i" execution_id {value: "e"}}}}
		past_events {timestamp {seconds: 1893456000} task_scheduled {name: "Hello"}}
		past_events {event_id: -1 timestamp {seconds: 1893456000} orchestrator_completed {}}
		new_events {event_id: -1 timestamp {seconds: 1893456001} orchestrator_started {}}
		new_events {event_id: -1 timestamp {seconds: 1893456000} task_failed {failure_details {error_type: "(unknown)" error_message: "no such function"}}}
		properties {key: "HttpDefaultAsyncRequestSleepTimeMilliseconds" value {number_value: 30000}}
		properties {key: "IncludeState" value {bool_value: true}}
		properties {key: "IsExtendedSession" value {bool_value: false}}
		properties {key: "ExtendedSessionIdleTimeoutInSeconds" value {number_value: 0}}`)
	if diff := cmp.Diff(got, want, protocmp.Transform()); diff != "" {
		t.Errorf("request (-got +want):\n%s", diff)
	}
}

// The kinds of events that TestRequest has not.
func TestEvents(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		event durable.Event
		want  string
	}{
		{durable.Event{Type: durable.ExecutionStarted, Name: "C", Version: "2", Input: ptr("1"), InstanceID: "c", ExecutionID: "x", Tags: map[string]string{"k": "v"}, Parent: &durable.Parent{Name: "P", InstanceID: "p", ExecutionID: "y", Number: 3}},
			`execution_started {name: "C" version {value: "2"} input {value: "1"} orchestration_instance {instance_id: "c" execution_id {value: "x"}} tags {key: "k" value: "v"} parent_instance {task_scheduled_id: 3 name {value: "P"} version {} instance {instance_id: "p" execution_id {value: "y"}}}}`},
		{durable.Event{Type: durable.ExecutionCompleted, Status: durable.Failed, Result: ptr("r"), Failure: &durable.Failure{Type: "T", Message: "m", NonRetriable: true, Properties: map[string]any{"n": 1.0}}},
			`execution_completed {status: ORCHESTRATION_STATUS_FAILED result {value: "r"} failure_details {error_type: "T" error_message: "m" is_non_retriable: true properties {key: "n" value {number_value: 1}}}}`},
		{durable.Event{Type: durable.ExecutionTerminated, Input: ptr("r")}, `execution_terminated {input {value: "r"}}`},
		{durable.Event{Type: durable.TaskCompleted, Task: 2, Result: ptr("\xff")}, `task_completed {task_scheduled_id: 2 result {value: "\357\277\275"}}`},
		{durable.Event{Type: durable.SubOrchestrationInstanceCreated, Name: "C", InstanceID: "c", Input: ptr("1")}, `sub_orchestration_created {instance_id: "c" name: "C"}`},
		{durable.Event{Type: durable.SubOrchestrationInstanceCompleted, Task: 2}, `sub_orchestration_completed {task_scheduled_id: 2}`},
		{durable.Event{Type: durable.SubOrchestrationInstanceFailed, Task: 2, Failure: &durable.Failure{Type: "T"}}, `sub_orchestration_failed {task_scheduled_id: 2 failure_details {error_type: "T"}}`},
		{durable.Event{Type: durable.TimerCreated, FireAt: start}, `timer_created {fire_at {seconds: 1893456000}}`},
		{durable.Event{Type: durable.TimerFired, FireAt: start, Task: 1}, `timer_fired {fire_at {seconds: 1893456000} timer_id: 1}`},
		{durable.Event{Type: durable.EventSent, InstanceID: "@c@k", Name: "op", Input: ptr("{}")}, `event_sent {instance_id: "@c@k" name: "op" input {value: "{}"}}`},
		{durable.Event{Type: durable.EventRaised, Name: "go"}, `event_raised {name: "go"}`},
		{durable.Event{Type: durable.ContinueAsNew, Result: ptr("1")}, `continue_as_new {text {value: "1"}}`},
		{durable.Event{Type: durable.ExecutionSuspended, Reason: ptr("r")}, `execution_suspended {text {value: "r"}}`},
		{durable.Event{Type: durable.ExecutionResumed}, `execution_resumed {}`},
		{durable.Event{Type: durable.GenericEvent, Data: ptr("d")}, `generic_event {text {value: "d"}}`},
	} {
		tt.event.Time = start
		want := &pb.HistoryEvent{}
		message(t, want, `timestamp {seconds: 1893456000} `+tt.want)
		if diff := cmp.Diff(wire.Event(&tt.event), want, protocmp.Transform()); diff != "" {
			t.Errorf("event %d (-got +want):\n%s", tt.event.Type, diff)
		}
	}
}

// Messages of exceptions as failures (spec durable 10.4).
func TestActivityFailure(t *testing.T) {
	t.Parallel()
	for message, want := range map[string]*durable.Failure{
		`{ "errorType": "T", "errorMessage": "m", "stackTrace": "s", "innerFailure": { "errorType": "U", "errorMessage": "i" } }`: {Type: "T", Message: "m", Stack: "s", Inner: &durable.Failure{Type: "U", Message: "i"}},
		"IllegalStateException: boom: more\nsecond line": {Type: "IllegalStateException", Message: "boom: more", Stack: "at x"},
		"Exception of type 'My.Err' was thrown.":         {Type: "My.Err", Stack: "at x"},
		"no type here ":                                  {Type: "(unknown)", Message: "no type here", Stack: "at x"},
		`{"a":1}`:                                        {Type: "(unknown)", Message: `{"a":1}`, Stack: "at x"},
	} {
		e := &durable.Event{}
		wire.ActivityFailure(e, "Boom", &durable.Reply{Failed: true, Message: message, Stack: "at x"})
		if diff := cmp.Diff(e.Failure, want); diff != "" || *e.Reason != "Function 'Boom' failed with an unhandled exception." || e.Details != nil {
			t.Errorf("%s: %s (-got +want):\n%s", message, *e.Reason, diff)
		}
	}
}

// A batch goes out and comes back (spec durable 10.3).
func TestBatch(t *testing.T) {
	t.Parallel()
	batch := []plan.Request{{Operation: "Add", ID: "u-1", Input: ptr("5"), Signal: true}, {Operation: "Get", ID: "u-2"}, {Operation: "Throw", ID: "u-3"}}
	b, _ := base64.StdEncoding.DecodeString(wire.BatchRequest("@counter@k", ptr("1"), batch))
	got, want := &pb.EntityBatchRequest{}, &pb.EntityBatchRequest{}
	if err := proto.Unmarshal(b, got); err != nil {
		t.Fatal(err)
	}
	message(t, want, `instance_id: "@counter@k" entity_state {value: "1"} operations {operation: "Add" request_id: "u-1" input {value: "5"}} operations {operation: "Get" request_id: "u-2"} operations {operation: "Throw" request_id: "u-3"}
		properties {key: "RollbackEntityOperationsOnExceptions" value {bool_value: true}}`)
	if diff := cmp.Diff(got, want, protocmp.Transform()); diff != "" {
		t.Errorf("request (-got +want):\n%s", diff)
	}
	failure := wire.Answer{Failure: []byte(`{"ErrorType":"T","ErrorMessage":"no","StackTrace":null,"InnerFailure":null,"IsNonRetriable":false,"Properties":{}}`)}
	for name, tt := range map[string]struct {
		reply string
		want  *wire.Batch
	}{
		"as it should be": {
			`results {success {}} results {success {result {value: "6"}}} results {failure {failure_details {error_type: "T" error_message: "no"}}} entity_state {value: "6"}
			 actions {id: 1 send_signal {instance_id: "@c@x" name: "Add" input {value: "1"} scheduled_time {seconds: 1893456000}}} actions {start_orchestration {instance_id: "o" name: "Chain" version {} input {value: "2"}}}`,
			&wire.Batch{State: ptr("6"), Answers: []wire.Answer{{}, {Result: ptr("6")}, failure}, Signals: []wire.Signal{{Entity: "@c@x", Operation: "Add", Input: ptr("1"), Due: start}}, Starts: []durable.Start{{ID: "o", Name: "Chain", Input: ptr("2"), By: "entity"}}},
		},
		"the entity is gone": {`results {success {}} results {success {}} results {success {}}`, &wire.Batch{Answers: []wire.Answer{{}, {}, {}}}},
		"failed as a whole": {
			`results {success {}} failure_details {error_type: "T" error_message: "no"} entity_state {value: "9"}`,
			&wire.Batch{State: ptr("1"), Answers: []wire.Answer{{}, failure, failure}},
		},
		"too few": {`results {success {}}`, nil},
	} {
		got, err := wire.ReadBatch(&durable.Reply{Value: message(t, &pb.EntityBatchResult{}, tt.reply)}, len(batch), ptr("1"))
		if diff := cmp.Diff(got, tt.want); diff != "" || (err != nil) != (tt.want == nil) {
			t.Errorf("%s: %v (-got +want):\n%s", name, err, diff)
		}
	}
}
