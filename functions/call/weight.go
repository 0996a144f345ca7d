package call

import "github.com/redeliver/redeliver/functions/functionpb"

// weight is about the size of m in bytes when it is encoded: what the user's data
// takes. The exact size costs as much as encoding it.
func weight(m Message) int {
	switch m := any(m).(type) {
	case *functionpb.HostMessage:
		r := m.GetRequest()
		w := namedWeight(r.GetInputs()) + namedWeight(r.GetMetadata()) + len(m.GetWoken().GetError())
		if e := r.GetRetry().GetException(); e != nil {
			w += len(e.GetMessage()) + len(e.GetStackTrace())
		}
		return w
	case *functionpb.HandlerMessage:
		switch content := m.GetContent().(type) {
		case *functionpb.HandlerMessage_Result:
			r := content.Result
			w := namedWeight(r.GetOutputs()) + valueWeight(r.GetReturnValue())
			if e := r.GetError(); e != nil {
				w += len(e.GetMessage()) + len(e.GetStack())
			}
			return w
		case *functionpb.HandlerMessage_Log:
			w := len(content.Log.GetMessage())
			for _, f := range content.Log.GetFields() {
				w += overhead + len(f.GetKey()) + len(f.GetValue())
			}
			return w
		case *functionpb.HandlerMessage_Refusal:
			return len(content.Refusal.GetReason())
		}
	}
	return 0
}

// overhead is the size of a value in a list, without its content.
const overhead = 4

func namedWeight(list []*functionpb.NamedValue) int {
	w := 0
	for _, v := range list {
		w += overhead + len(v.GetName()) + valueWeight(v.GetValue())
	}
	return w
}

func valueWeight(v *functionpb.Value) int {
	switch d := v.GetData().(type) {
	case *functionpb.Value_String_:
		return len(d.String_)
	case *functionpb.Value_Json:
		return len(d.Json)
	case *functionpb.Value_Bytes:
		return len(d.Bytes)
	case *functionpb.Value_Strings:
		return valuesWeight(d.Strings)
	case *functionpb.Value_BytesList:
		return valuesWeight(d.BytesList)
	case *functionpb.Value_HttpRequest:
		return len(d.HttpRequest.GetUrl()) + len(d.HttpRequest.GetBody()) + headersWeight(d.HttpRequest.GetHeaders())
	case *functionpb.Value_HttpResponse:
		return len(d.HttpResponse.GetBody()) + headersWeight(d.HttpResponse.GetHeaders())
	}
	return 0
}

func valuesWeight(list *functionpb.Values) int {
	w := 0
	for _, v := range list.GetValues() {
		w += overhead + valueWeight(v)
	}
	return w
}

func headersWeight(list []*functionpb.Header) int {
	w := 0
	for _, h := range list {
		w += overhead + len(h.GetName())
		for _, v := range h.GetValues() {
			w += overhead + len(v)
		}
	}
	return w
}
