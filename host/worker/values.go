package worker

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/functions/call"
	"github.com/redeliver/redeliver/host/worker/workerpb"
	"github.com/redeliver/redeliver/retrycontext"
)

// typed is a value as it travels.
type typed = workerpb.TypedData

// request is an attempt as a worker with these capabilities takes it.
func (c capabilities) request(r *call.Request, f *loaded) *workerpb.InvocationRequest {
	out := &workerpb.InvocationRequest{
		InvocationId: r.InvocationID, FunctionId: f.id,
		TriggerMetadata: map[string]*typed{},
		TraceContext:    &workerpb.RpcTraceContext{TraceParent: utf8(r.TraceParent), TraceState: utf8(r.TraceState)},
		RetryContext:    retryContextOf(r.Retry),
	}
	for _, in := range r.Inputs {
		out.InputData = append(out.InputData, &workerpb.ParameterBinding{
			Name: in.Name, RpcData: &workerpb.ParameterBinding_Data{Data: c.value(in.Value)},
		})
	}
	for name, v := range r.Metadata {
		if v.Kind == bindings.Request {
			if !c.has("RpcHttpTriggerMetadataRemoved") {
				out.TriggerMetadata[utf8(name)] = c.value(v)
			}
			continue
		}
		out.TriggerMetadata[utf8(name)] = c.metadata(v)
	}
	return out
}

// retryContextOf is nil when no policy applies: it is not the same as zero (spec workers
// 7).
func retryContextOf(rc *retrycontext.Context) *workerpb.RetryContext {
	if rc == nil {
		return nil
	}
	out := &workerpb.RetryContext{RetryCount: int32(rc.RetryCount), MaxRetryCount: int32(rc.MaxRetryCount)}
	if e := rc.Exception; e != nil {
		// The platform's has no type (host: ScriptInvocationContextExtensions.cs).
		out.Exception = &workerpb.RpcException{Message: utf8(e.Message), Source: utf8(e.Source), StackTrace: utf8(e.StackTrace)}
	}
	return out
}

// utf8 is text that can travel.
func utf8(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

// metadata is a value of the trigger's metadata. Numbers travel as JSON there: a worker
// may refuse others (spec workers 6.1).
func (c capabilities) metadata(v bindings.Value) *typed {
	switch v.Kind {
	case bindings.Int:
		return jsonData(strconv.FormatInt(v.Int, 10))
	case bindings.Double:
		if raw, err := json.Marshal(v.Double); err == nil {
			return jsonData(string(raw))
		}
		return textData(strconv.FormatFloat(v.Double, 'g', -1, 64)) // JSON has no such number
	}
	return c.value(v)
}

func textData(s string) *typed { return &typed{Data: &workerpb.TypedData_String_{String_: utf8(s)}} }
func jsonData(s string) *typed { return &typed{Data: &workerpb.TypedData_Json{Json: utf8(s)}} }
func bytesData(b []byte) *typed {
	if b == nil {
		b = []byte{}
	}
	return &typed{Data: &workerpb.TypedData_Bytes{Bytes: b}}
}

// value is a value of an input (spec workers 6.1).
func (c capabilities) value(v bindings.Value) *typed {
	switch v.Kind {
	case bindings.String:
		return textData(v.Text)
	case bindings.JSON:
		return jsonData(v.Text)
	case bindings.Bytes:
		return bytesData(v.Data)
	case bindings.Int:
		return &typed{Data: &workerpb.TypedData_Int{Int: v.Int}}
	case bindings.Double:
		return &typed{Data: &workerpb.TypedData_Double{Double: v.Double}}
	case bindings.Strings:
		return c.texts(v.List)
	case bindings.BytesList:
		return c.manyBytes(v.List)
	case bindings.Model:
		return &typed{Data: &workerpb.TypedData_ModelBindingData{ModelBindingData: modelOf(v)}}
	case bindings.Models:
		list := &workerpb.CollectionModelBindingData{}
		for _, m := range v.List {
			list.ModelBindingData = append(list.ModelBindingData, modelOf(m))
		}
		return &typed{Data: &workerpb.TypedData_CollectionModelBindingData{CollectionModelBindingData: list}}
	case bindings.Request:
		if c.has(forwarding) {
			return &typed{Data: &workerpb.TypedData_Http{Http: c.bare(v.HTTP)}}
		}
		return &typed{Data: &workerpb.TypedData_Http{Http: c.http(v.HTTP)}}
	case bindings.Response:
		if raw, err := json.Marshal(v.HTTPResponse); err == nil {
			return jsonData(string(raw))
		}
	}
	return &typed{}
}

// modelOf is what a library in the worker opens (spec workers-dotnet-java 1.8).
func modelOf(v bindings.Value) *workerpb.ModelBindingData {
	m := v.Model
	return &workerpb.ModelBindingData{Version: "1.0", Source: m.Source, ContentType: m.ContentType, Content: m.Content}
}

// texts is a batch of text. Without the capability for it, a collection has no empty
// members (spec workers 5).
func (c capabilities) texts(list []bindings.Value) *typed {
	out := []string{}
	for _, v := range list {
		if v.Text != "" || c.has("IncludeEmptyEntriesInMessagePayload") || !c.has("TypedDataCollection") {
			out = append(out, utf8(v.Text))
		}
	}
	if c.has("TypedDataCollection") {
		return &typed{Data: &workerpb.TypedData_CollectionString{CollectionString: &workerpb.CollectionString{String_: out}}}
	}
	raw, _ := json.Marshal(out) // texts have a JSON form
	return jsonData(string(raw))
}

// manyBytes is a batch of bytes.
func (c capabilities) manyBytes(list []bindings.Value) *typed {
	out := [][]byte{}
	for _, v := range list {
		if len(v.Data) > 0 || c.has("IncludeEmptyEntriesInMessagePayload") || !c.has("TypedDataCollection") {
			out = append(out, append([]byte{}, v.Data...))
		}
	}
	if c.has("TypedDataCollection") {
		return &typed{Data: &workerpb.TypedData_CollectionBytes{CollectionBytes: &workerpb.CollectionBytes{Bytes: out}}}
	}
	raw, _ := json.Marshal(out) // bytes have a JSON form
	return jsonData(string(raw))
}

// responseOf is the outcome of an attempt. Outputs that the function does not have are
// left out, as on the platform.
func responseOf(req *call.Request, r *workerpb.InvocationResponse) (*call.Response, error) {
	if r == nil {
		return nil, fmt.Errorf("an answer of another kind")
	}
	out := &call.Response{Status: call.Succeeded, Span: r.GetTraceContextAttributes()}
	if failure := failureOf(r.GetResult()); failure != nil {
		out.Status, out.Error = call.Failed, failure
		if r.GetResult().GetStatus() == workerpb.StatusResult_Cancelled {
			out.Status = call.Cancelled
		}
		return out, nil
	}
	known := map[string]bool{}
	for _, name := range req.Outputs {
		known[name] = true
	}
	var request *bindings.HTTPRequest
	if len(req.Inputs) > 0 {
		request = req.Inputs[0].Value.HTTP
	}
	for _, b := range r.GetOutputData() {
		if !known[b.GetName()] {
			continue
		}
		v, err := givenValue(b.GetData(), request)
		if err != nil {
			return nil, fmt.Errorf("output %q: %w", b.GetName(), err)
		}
		if out.Outputs == nil {
			out.Outputs = map[string]bindings.Value{}
		}
		out.Outputs[b.GetName()] = v
	}
	if r.GetReturnValue().GetData() != nil {
		v, err := givenValue(r.GetReturnValue(), request)
		if answer := r.GetReturnValue().GetHttp(); answer != nil && !known["$return"] {
			v, err = untakenAnswer(answer)
		}
		if err != nil {
			return nil, fmt.Errorf("return value: %w", err)
		}
		out.Return = &v
	}
	return out, nil
}

// givenValue is a value that a worker gives, which may be the answer to a request.
func givenValue(d *typed, request *bindings.HTTPRequest) (bindings.Value, error) {
	if answer := d.GetHttp(); answer != nil {
		return answerOf(answer, request)
	}
	return valueOf(d)
}

// valueOf is a value that a worker gives (spec workers 6.3).
func valueOf(d *typed) (bindings.Value, error) {
	switch data := d.GetData().(type) {
	case nil:
		return bindings.Value{}, nil
	case *workerpb.TypedData_String_:
		return bindings.StringValue(data.String_), nil
	case *workerpb.TypedData_Json:
		if !json.Valid([]byte(data.Json)) {
			return bindings.Value{}, fmt.Errorf("it is said to be JSON, and is not")
		}
		return bindings.JSONValue(json.RawMessage(data.Json)), nil
	case *workerpb.TypedData_Bytes:
		return bindings.BytesValue(data.Bytes), nil
	case *workerpb.TypedData_Stream:
		return bindings.BytesValue(data.Stream), nil
	case *workerpb.TypedData_Int:
		return bindings.Value{Kind: bindings.Int, Int: data.Int}, nil
	case *workerpb.TypedData_Double:
		return bindings.Value{Kind: bindings.Double, Double: data.Double}, nil
	case *workerpb.TypedData_CollectionString:
		v := bindings.Value{Kind: bindings.Strings}
		for _, s := range data.CollectionString.GetString_() {
			v.List = append(v.List, bindings.StringValue(s))
		}
		return v, nil
	case *workerpb.TypedData_CollectionBytes:
		v := bindings.Value{Kind: bindings.BytesList}
		for _, b := range data.CollectionBytes.GetBytes() {
			v.List = append(v.List, bindings.BytesValue(b))
		}
		return v, nil
	case *workerpb.TypedData_CollectionDouble:
		return jsonOf(data.CollectionDouble.GetDouble())
	case *workerpb.TypedData_CollectionSint64:
		return jsonOf(data.CollectionSint64.GetSint64())
	}
	return bindings.Value{}, fmt.Errorf("this host does not take a value of the form %T", d.GetData())
}

func jsonOf[T any](list []T) (bindings.Value, error) {
	if list == nil {
		list = []T{}
	}
	raw, err := json.Marshal(list)
	if err != nil {
		return bindings.Value{}, fmt.Errorf("it has no JSON form: %w", err)
	}
	return bindings.JSONValue(raw), nil
}
