package wire

import (
	"encoding/base64"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/redeliver/redeliver/bindings/durable"
	pb "github.com/redeliver/redeliver/host/emulator/sidecar/sidecarpb"
)

// The fields of OrchestratorRequest that hold events.
const (
	pastField protowire.Number = 3
	newField  protowire.Number = 4
)

// Header is what a request has beside the history (spec durable 10.2).
type Header struct {
	InstanceID, ExecutionID string
	HTTPPollInterval        time.Duration // 0: 30 s
}

var deterministic = proto.MarshalOptions{Deterministic: true} // read only

// Request is what an orchestrator is asked: past and fresh are events by AppendPast and
// AppendNew.
func Request(h *Header, past, fresh []byte) string {
	poll := h.HTTPPollInterval
	if poll == 0 {
		poll = 30 * time.Second
	}
	b := marshal(&pb.OrchestratorRequest{
		InstanceId: h.InstanceID, ExecutionId: wrapperspb.String(h.ExecutionID),
		EntityParameters: &pb.EntityParameters{MessageReorderWindow: durationpb.New(0)},
		Properties: map[string]*structpb.Value{
			"HttpDefaultAsyncRequestSleepTimeMilliseconds": structpb.NewNumberValue(float64(poll.Milliseconds())),
			"IncludeState":                        structpb.NewBoolValue(true),
			"IsExtendedSession":                   structpb.NewBoolValue(false),
			"ExtendedSessionIdleTimeoutInSeconds": structpb.NewNumberValue(0),
		},
	})
	return base64.StdEncoding.EncodeToString(append(append(b, past...), fresh...))
}

func marshal(m proto.Message) []byte {
	b, err := deterministic.Marshal(m)
	if err != nil { // texts are made valid by text
		panic(err)
	}
	return b
}

// AppendPast writes an event of an earlier turn.
func AppendPast(b []byte, e *durable.Event) []byte { return appendEvent(b, pastField, e) }

// AppendNew writes an event of this turn.
func AppendNew(b []byte, e *durable.Event) []byte { return appendEvent(b, newField, e) }

func appendEvent(b []byte, field protowire.Number, e *durable.Event) []byte {
	b = protowire.AppendTag(b, field, protowire.BytesType)
	return protowire.AppendBytes(b, marshal(Event(e)))
}

// Event is an event of a history as the protocol has it.
func Event(e *durable.Event) *pb.HistoryEvent {
	out := &pb.HistoryEvent{EventId: int32(e.ID), Timestamp: timestamppb.New(e.Time)}
	switch e.Type {
	case durable.ExecutionStarted:
		out.Event = &pb.HistoryEvent_ExecutionStarted{ExecutionStarted: started(e)}
	case durable.ExecutionCompleted:
		out.Event = &pb.HistoryEvent_ExecutionCompleted{ExecutionCompleted: &pb.ExecutionCompletedEvent{
			Status: pb.OrchestrationStatus(e.Status), Result: Optional(e.Result), FailureDetails: Failure(e.Failure),
		}}
	case durable.ExecutionTerminated:
		out.Event = &pb.HistoryEvent_ExecutionTerminated{ExecutionTerminated: &pb.ExecutionTerminatedEvent{Input: Optional(e.Input)}}
	case durable.TaskScheduled:
		out.Event = &pb.HistoryEvent_TaskScheduled{TaskScheduled: &pb.TaskScheduledEvent{Name: text(e.Name), Version: unlessEmpty(e.Version)}}
	case durable.TaskCompleted:
		out.Event = &pb.HistoryEvent_TaskCompleted{TaskCompleted: completed(e)}
	case durable.TaskFailed:
		out.Event = &pb.HistoryEvent_TaskFailed{TaskFailed: failed(e)}
	case durable.SubOrchestrationInstanceCreated:
		out.Event = &pb.HistoryEvent_SubOrchestrationCreated{SubOrchestrationCreated: &pb.SubOrchestrationCreatedEvent{
			InstanceId: text(e.InstanceID), Name: text(e.Name), Version: unlessEmpty(e.Version),
		}}
	case durable.SubOrchestrationInstanceCompleted:
		out.Event = &pb.HistoryEvent_SubOrchestrationCompleted{SubOrchestrationCompleted: completed(e)}
	case durable.SubOrchestrationInstanceFailed:
		out.Event = &pb.HistoryEvent_SubOrchestrationFailed{SubOrchestrationFailed: failed(e)}
	default:
		return restOfEvents(out, e)
	}
	return out
}

// restOfEvents are those that name no function.
func restOfEvents(out *pb.HistoryEvent, e *durable.Event) *pb.HistoryEvent {
	switch e.Type {
	case durable.TimerCreated:
		out.Event = &pb.HistoryEvent_TimerCreated{TimerCreated: &pb.TimerCreatedEvent{FireAt: timestamppb.New(e.FireAt)}}
	case durable.TimerFired:
		out.Event = &pb.HistoryEvent_TimerFired{TimerFired: &pb.TimerFiredEvent{FireAt: timestamppb.New(e.FireAt), TimerId: int32(e.Task)}}
	case durable.OrchestratorStarted:
		out.Event = &pb.HistoryEvent_OrchestratorStarted{OrchestratorStarted: &pb.OrchestratorStartedEvent{}}
	case durable.OrchestratorCompleted:
		out.Event = &pb.HistoryEvent_OrchestratorCompleted{OrchestratorCompleted: &pb.OrchestratorCompletedEvent{}}
	case durable.EventSent:
		out.Event = &pb.HistoryEvent_EventSent{EventSent: &pb.EventSentEvent{InstanceId: text(e.InstanceID), Name: text(e.Name), Input: Optional(e.Input)}}
	case durable.EventRaised:
		out.Event = &pb.HistoryEvent_EventRaised{EventRaised: &pb.EventRaisedEvent{Name: text(e.Name), Input: Optional(e.Input)}}
	case durable.ContinueAsNew:
		out.Event = &pb.HistoryEvent_ContinueAsNew{ContinueAsNew: &pb.TextEvent{Text: Optional(e.Result)}}
	case durable.ExecutionSuspended:
		out.Event = &pb.HistoryEvent_ExecutionSuspended{ExecutionSuspended: &pb.TextEvent{Text: Optional(e.Reason)}}
	case durable.ExecutionResumed:
		out.Event = &pb.HistoryEvent_ExecutionResumed{ExecutionResumed: &pb.TextEvent{Text: Optional(e.Reason)}}
	default:
		out.Event = &pb.HistoryEvent_GenericEvent{GenericEvent: &pb.TextEvent{Text: Optional(e.Data)}}
	}
	return out
}

func started(e *durable.Event) *pb.ExecutionStartedEvent {
	out := &pb.ExecutionStartedEvent{
		Name: text(e.Name), Version: unlessEmpty(e.Version), Input: Optional(e.Input), OrchestrationInstance: instance(e.InstanceID, e.ExecutionID), Tags: tags(e.Tags),
	}
	if p := e.Parent; p != nil {
		out.ParentInstance = &pb.ParentInstance{
			TaskScheduledId: int32(p.Number), Name: wrapperspb.String(text(p.Name)), Version: wrapperspb.String(""), Instance: instance(p.InstanceID, p.ExecutionID),
		}
	}
	if !e.FireAt.IsZero() {
		out.ScheduledStart = timestamppb.New(e.FireAt)
	}
	return out
}

func instance(id, execution string) *pb.OrchestrationInstance {
	return &pb.OrchestrationInstance{InstanceId: text(id), ExecutionId: unlessEmpty(execution)}
}

func completed(e *durable.Event) *pb.TaskCompletedEvent {
	return &pb.TaskCompletedEvent{TaskScheduledId: int32(e.Task), Result: Optional(e.Result)}
}

// failed is the end of a task that has failed. Where there are no details the platform sends
// none, and a worker then tells of a failure without a text: here it is told the reason (spec
// durable 6.4).
func failed(e *durable.Event) *pb.TaskFailedEvent {
	out := &pb.TaskFailedEvent{TaskScheduledId: int32(e.Task), FailureDetails: Failure(e.Failure)}
	if e.Failure == nil && e.Reason != nil {
		out.FailureDetails = &pb.FailureDetails{ErrorType: unknownType, ErrorMessage: text(*e.Reason)}
	}
	return out
}
