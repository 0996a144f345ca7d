package worker

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"google.golang.org/grpc/encoding"
	_ "google.golang.org/grpc/encoding/proto" // registers the codec that lenient looks up
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/redeliver/redeliver/host/worker/workerpb"
)

// User code can say what no message holds: half a character, a number that is too large.
// The stream carries all calls of the process, so that one odd message must not end it.

// messageOf reads a line. Half a character is replaced; an answer that makes no sense is
// the failure of what it answers.
func messageOf(line []byte) (*message, error) {
	m := &message{}
	err := fromLines.Unmarshal(line, m)
	if err == nil {
		return m, nil
	}
	if whole, e := wholeCharacters(line); e == nil && fromLines.Unmarshal(whole, m) == nil {
		return m, nil
	}
	var of struct {
		InvocationResponse       struct{ InvocationID string }
		FunctionLoadResponse     struct{ FunctionID string }
		FunctionMetadataResponse *struct{}
	}
	_ = json.Unmarshal(line, &of) // what is there counts
	failure := &workerpb.StatusResult{Exception: &workerpb.RpcException{
		Message: fmt.Sprintf("the host cannot read what the worker answers: %v", strings.ReplaceAll(err.Error(), "\u00a0", " ")),
	}}
	switch {
	case of.InvocationResponse.InvocationID != "":
		return &message{Content: &workerpb.StreamingMessage_InvocationResponse{InvocationResponse: &workerpb.InvocationResponse{
			InvocationId: of.InvocationResponse.InvocationID, Result: failure,
		}}}, nil
	case of.FunctionLoadResponse.FunctionID != "":
		return &message{Content: &workerpb.StreamingMessage_FunctionLoadResponse{FunctionLoadResponse: &workerpb.FunctionLoadResponse{
			FunctionId: of.FunctionLoadResponse.FunctionID, Result: failure,
		}}}, nil
	case of.FunctionMetadataResponse != nil:
		return &message{Content: &workerpb.StreamingMessage_FunctionMetadataResponse{FunctionMetadataResponse: &workerpb.FunctionMetadataResponse{Result: failure}}}, nil
	}
	return nil, fmt.Errorf("a line of the worker is not a message: %w", err)
}

// wholeCharacters writes JSON anew: package encoding/json replaces halves of characters.
func wholeCharacters(line []byte) ([]byte, error) {
	d := json.NewDecoder(bytes.NewReader(line))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	return json.Marshal(v)
}

// lenient is the codec of gRPC, which takes text of workers that is no UTF-8.
type lenient struct{ encoding.CodecV2 }

func newLenient() encoding.CodecV2 { return lenient{encoding.GetCodecV2("proto")} }

// Unmarshal implements encoding.CodecV2.
func (c lenient) Unmarshal(data mem.BufferSlice, v any) error {
	err := c.CodecV2.Unmarshal(data, v)
	m, isMessage := v.(proto.Message)
	if err == nil || !isMessage {
		return err
	}
	whole, ok := withText(data.Materialize(), m.ProtoReflect().Descriptor())
	if !ok {
		return err
	}
	return proto.Unmarshal(whole, m)
}

// withText writes a message anew, with text that is UTF-8. It reports false for what is
// no message.
func withText(raw []byte, of protoreflect.MessageDescriptor) (out []byte, ok bool) {
	for len(raw) > 0 {
		number, kind, n := protowire.ConsumeTag(raw)
		if n < 0 {
			return nil, false
		}
		size := protowire.ConsumeFieldValue(number, kind, raw[n:])
		if size < 0 {
			return nil, false
		}
		field, whole := raw[:n+size], raw[n:n+size]
		raw = raw[n+size:]
		d := of.Fields().ByNumber(number)
		if d == nil || kind != protowire.BytesType || d.Kind() != protoreflect.StringKind && d.Kind() != protoreflect.MessageKind {
			out = append(out, field...)
			continue
		}
		value, _ := protowire.ConsumeBytes(whole)
		if d.Kind() == protoreflect.StringKind {
			value = bytes.ToValidUTF8(value, []byte("\uFFFD"))
		} else if value, ok = withText(value, d.Message()); !ok {
			return nil, false
		}
		out = protowire.AppendBytes(protowire.AppendTag(out, number, kind), value)
	}
	return out, true
}
