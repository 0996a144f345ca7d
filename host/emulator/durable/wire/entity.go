package wire

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"time"

	"google.golang.org/protobuf/types/known/structpb"

	"github.com/redeliver/redeliver/bindings/durable"
	"github.com/redeliver/redeliver/host/emulator/durable/plan"
	pb "github.com/redeliver/redeliver/host/emulator/sidecar/sidecarpb"
)

// BatchRequest is what an entity is asked (spec durable 10.3). state is nil when it does not
// exist.
func BatchRequest(id string, state *string, batch []plan.Request) string {
	out := &pb.EntityBatchRequest{
		InstanceId: text(id), EntityState: Optional(state),
		Properties: map[string]*structpb.Value{"RollbackEntityOperationsOnExceptions": structpb.NewBoolValue(true)},
	}
	for i := range batch {
		out.Operations = append(out.Operations, &pb.OperationRequest{Operation: text(batch[i].Operation), RequestId: batch[i].ID, Input: Optional(batch[i].Input)})
	}
	return base64.StdEncoding.EncodeToString(marshal(out))
}

// Batch is what a batch has come to.
type Batch struct {
	State   *string // nil: the entity does not exist
	Answers []Answer
	Signals []Signal
	Starts  []durable.Start
}

// Answer is what an entity answers to a call.
type Answer struct {
	Result  *string         `json:"result"`                   // JSON text
	Failure json.RawMessage `json:"failureDetails,omitempty"` // nil: it has not failed
}

// Signal is an operation that an entity sends.
type Signal struct {
	Entity, Operation string
	Input             *string
	Due               time.Time // zero: now
}

// ReadBatch reads the reply to a batch of n operations, where the state was before. With an
// error there is none, and the batch comes again.
func ReadBatch(r *durable.Reply, n int, before *string) (*Batch, error) {
	reply := &pb.EntityBatchResult{}
	if err := decode(r, reply); err != nil {
		return nil, err
	}
	out := &Batch{State: Pointer(reply.GetEntityState())}
	whole := failureOf(reply.GetFailureDetails())
	if whole != nil {
		out.State = before
	}
	for i := range n {
		switch {
		case i < len(reply.GetResults()):
			result := reply.GetResults()[i]
			if failure := result.GetFailure(); failure != nil {
				out.Answers = append(out.Answers, failedAnswer(failureOf(failure.GetFailureDetails())))
				continue
			}
			out.Answers = append(out.Answers, Answer{Result: Pointer(result.GetSuccess().GetResult())})
		case whole != nil:
			out.Answers = append(out.Answers, failedAnswer(whole))
		default:
			return nil, errors.New("the entity has returned fewer results than there were operations")
		}
	}
	for _, a := range reply.GetActions() {
		if s := a.GetSendSignal(); s != nil {
			signal := Signal{Entity: s.GetInstanceId(), Operation: s.GetName(), Input: Pointer(s.GetInput())}
			if s.GetScheduledTime() != nil {
				signal.Due = Time(s.GetScheduledTime())
			}
			out.Signals = append(out.Signals, signal)
		}
		if s := a.GetStartOrchestration(); s != nil {
			start := durable.Start{ID: s.GetInstanceId(), Name: s.GetName(), Version: s.GetVersion().GetValue(), Input: Pointer(s.GetInput()), By: "entity"}
			if s.GetScheduledTime() != nil {
				start.Due = Time(s.GetScheduledTime())
			}
			out.Starts = append(out.Starts, start)
		}
	}
	return out, nil
}

// failedAnswer is the answer to a call that has failed.
//
// Source: core Entities/EventFormat/ResponseMessage.cs.
func failedAnswer(f *durable.Failure) Answer {
	if f == nil {
		f = &durable.Failure{Type: unknownType}
	}
	details, err := json.Marshal(detailsOf(f))
	if err != nil { // properties come from protobuf, whose numbers may be none
		f = &durable.Failure{Type: f.Type, Message: f.Message, Stack: f.Stack}
		details, _ = json.Marshal(detailsOf(f)) // texts always marshal
	}
	return Answer{Failure: details}
}

// Refusal is the answer of an entity that there is not.
func Refusal(message string) Answer {
	return failedAnswer(&durable.Failure{Type: unknownType, Message: message})
}

func detailsOf(f *durable.Failure) *failureJSON {
	if f == nil {
		return nil
	}
	var stack *string
	if f.Stack != "" {
		stack = &f.Stack
	}
	return &failureJSON{f.Type, f.Message, stack, detailsOf(f.Inner), f.NonRetriable, f.Properties}
}
