package wire

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/redeliver/redeliver/bindings/durable"
	pb "github.com/redeliver/redeliver/host/emulator/sidecar/sidecarpb"
)

// unknownType is the type of a failure that names none.
const unknownType = "(unknown)"

// text is s, fit for protobuf: what is no UTF-8 is replaced.
func text(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return strings.ToValidUTF8(s, "\ufffd")
}

// Optional is a value that may be absent, fit for protobuf.
func Optional(s *string) *wrapperspb.StringValue {
	if s == nil {
		return nil
	}
	return wrapperspb.String(text(*s))
}

func unlessEmpty(s string) *wrapperspb.StringValue {
	if s == "" {
		return nil
	}
	return wrapperspb.String(text(s))
}

func tags(m map[string]string) map[string]string {
	if len(m) == 0 {
		return nil
	}
	out := make(map[string]string, len(m))
	for k, v := range m {
		out[text(k)] = text(v)
	}
	return out
}

func valueOf(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// Pointer is the text of a value that may be absent.
func Pointer(v *wrapperspb.StringValue) *string {
	if v == nil {
		return nil
	}
	s := v.GetValue()
	return &s
}

// Failure is FailureDetails as the protocol has them.
func Failure(f *durable.Failure) *pb.FailureDetails {
	if f == nil {
		return nil
	}
	out := &pb.FailureDetails{
		ErrorType: text(f.Type), ErrorMessage: text(f.Message), StackTrace: unlessEmpty(f.Stack), InnerFailure: Failure(f.Inner), IsNonRetriable: f.NonRetriable,
	}
	for name, value := range f.Properties {
		if v, err := structpb.NewValue(value); err == nil {
			if out.Properties == nil {
				out.Properties = map[string]*structpb.Value{}
			}
			out.Properties[text(name)] = v
		}
	}
	return out
}

// failureOf reads what Failure writes.
func failureOf(f *pb.FailureDetails) *durable.Failure {
	if f == nil {
		return nil
	}
	out := &durable.Failure{
		Type: f.GetErrorType(), Message: f.GetErrorMessage(), Stack: f.GetStackTrace().GetValue(), Inner: failureOf(f.GetInnerFailure()), NonRetriable: f.GetIsNonRetriable(),
		Properties: map[string]any{}, // never null on the platform
	}
	for name, value := range f.GetProperties() {
		out.Properties[name] = value.AsInterface()
	}
	return out
}

// failureText is what an instance shows of its failure.
func failureText(f *durable.Failure) string { return f.Type + ": " + f.Message }

// failureJSON is how a worker tells of an activity's exception in its message.
type failureJSON struct {
	ErrorType      string
	ErrorMessage   string
	StackTrace     *string
	InnerFailure   *failureJSON
	IsNonRetriable bool
	Properties     map[string]any
}

func (f *failureJSON) failure() *durable.Failure {
	if f == nil {
		return nil
	}
	return &durable.Failure{Type: f.ErrorType, Message: f.ErrorMessage, Stack: valueOf(f.StackTrace), Inner: f.InnerFailure.failure(), NonRetriable: f.IsNonRetriable, Properties: f.Properties}
}

// Unhandled is the reason of a failed function.
func Unhandled(name string) string {
	return "Function '" + name + "' failed with an unhandled exception."
}

// ActivityFailure sets in an end how an activity has failed (spec durable 10.4): a message
// that is JSON has the details, any other is split into type and message.
//
// Source: ext OutOfProcMiddleware.cs.
func ActivityFailure(end *durable.Event, name string, r *durable.Reply) {
	reason := Unhandled(name)
	end.Reason = &reason
	var told failureJSON
	if err := json.Unmarshal([]byte(r.Message), &told); err == nil && (told.ErrorType != "" || told.ErrorMessage != "") {
		end.Failure = told.failure()
		return
	}
	end.Failure = split(r.Message)
	end.Failure.Stack = r.Stack
}

// split finds type and message in the text of an exception.
func split(message string) *durable.Failure {
	if name, ok := strings.CutPrefix(message, "Exception of type '"); ok {
		if name, ok := strings.CutSuffix(name, "' was thrown."); ok {
			return &durable.Failure{Type: name}
		}
	}
	name, rest, found := strings.Cut(message, ": ")
	if !found {
		name, rest = unknownType, message
	}
	if i := strings.IndexAny(rest, "\r\n"); i >= 0 {
		rest = rest[:i]
	}
	return &durable.Failure{Type: name, Message: strings.TrimSpace(rest)}
}
