package call

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/functions/functionpb"
)

// ValueToProto returns the wire form of v. Text that is not UTF-8 cannot travel
// as text: each bad sequence becomes U+FFFD, as on the platform, where all text
// is Unicode. A function that wants the bytes asks for them (dataType binary).
func ValueToProto(v bindings.Value) *functionpb.Value {
	v = v.Plain()
	switch v.Kind {
	case bindings.String:
		return &functionpb.Value{Data: &functionpb.Value_String_{String_: text(v.Text)}}
	case bindings.JSON:
		return &functionpb.Value{Data: &functionpb.Value_Json{Json: text(v.Text)}}
	case bindings.Bytes:
		return &functionpb.Value{Data: &functionpb.Value_Bytes{Bytes: v.Data}}
	case bindings.Int:
		return &functionpb.Value{Data: &functionpb.Value_Int{Int: v.Int}}
	case bindings.Double:
		return &functionpb.Value{Data: &functionpb.Value_Double{Double: v.Double}}
	case bindings.Strings:
		return &functionpb.Value{Data: &functionpb.Value_Strings{Strings: valuesToProto(v.List)}}
	case bindings.BytesList:
		return &functionpb.Value{Data: &functionpb.Value_BytesList{BytesList: valuesToProto(v.List)}}
	case bindings.Request:
		if r := v.HTTP; r != nil {
			return &functionpb.Value{Data: &functionpb.Value_HttpRequest{HttpRequest: &functionpb.HTTPRequest{
				Method:  text(r.Method),
				Url:     text(r.URL),
				Headers: headersToProto(r.Header),
				Params:  texts(r.Params),
				Body:    r.Body,
			}}}
		}
	case bindings.Response:
		if r := v.HTTPResponse; r != nil {
			return &functionpb.Value{Data: &functionpb.Value_HttpResponse{HttpResponse: &functionpb.HTTPResponse{
				StatusCode: int32(r.StatusCode),
				Headers:    headersToProto(r.Header),
				Body:       r.Body,
			}}}
		}
	}
	return &functionpb.Value{}
}

// ValueFromProto is the inverse of [ValueToProto]. A nil p is null. It shares
// memory with p. The error names a form that this version does not know.
func ValueFromProto(p *functionpb.Value) (bindings.Value, error) {
	switch d := p.GetData().(type) {
	case nil:
		return bindings.Value{}, nil
	case *functionpb.Value_String_:
		return bindings.StringValue(d.String_), nil
	case *functionpb.Value_Json:
		return bindings.Value{Kind: bindings.JSON, Text: d.Json}, nil
	case *functionpb.Value_Bytes:
		return bindings.BytesValue(d.Bytes), nil
	case *functionpb.Value_Int:
		return bindings.Value{Kind: bindings.Int, Int: d.Int}, nil
	case *functionpb.Value_Double:
		return bindings.Value{Kind: bindings.Double, Double: d.Double}, nil
	case *functionpb.Value_Strings:
		list, err := valuesFromProto(d.Strings)
		return bindings.Value{Kind: bindings.Strings, List: list}, err
	case *functionpb.Value_BytesList:
		list, err := valuesFromProto(d.BytesList)
		return bindings.Value{Kind: bindings.BytesList, List: list}, err
	case *functionpb.Value_HttpRequest:
		r := d.HttpRequest
		return bindings.Value{Kind: bindings.Request, HTTP: &bindings.HTTPRequest{
			Method: r.GetMethod(),
			URL:    r.GetUrl(),
			Header: headersFromProto(r.GetHeaders()),
			Params: r.GetParams(),
			Body:   r.GetBody(),
		}}, nil
	case *functionpb.Value_HttpResponse:
		r := d.HttpResponse
		return bindings.Value{Kind: bindings.Response, HTTPResponse: &bindings.HTTPResponse{
			StatusCode: int(r.GetStatusCode()),
			Header:     headersFromProto(r.GetHeaders()),
			Body:       r.GetBody(),
		}}, nil
	default:
		return bindings.Value{}, fmt.Errorf("unknown form of value %T", d)
	}
}

func valuesToProto(list []bindings.Value) *functionpb.Values {
	out := &functionpb.Values{Values: make([]*functionpb.Value, len(list))}
	for i, v := range list {
		out.Values[i] = ValueToProto(v)
	}
	return out
}

func valuesFromProto(p *functionpb.Values) ([]bindings.Value, error) {
	list := make([]bindings.Value, len(p.GetValues()))
	for i, v := range p.GetValues() {
		// A batch is flat: nesting is refused, so that a handler cannot make
		// the host recurse.
		switch v.GetData().(type) {
		case *functionpb.Value_Strings, *functionpb.Value_BytesList:
			return nil, fmt.Errorf("element %d of a batch is a batch", i)
		}
		var err error
		if list[i], err = ValueFromProto(v); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func headersToProto(h http.Header) []*functionpb.Header {
	if len(h) == 0 {
		return nil
	}
	out := make([]*functionpb.Header, 0, len(h))
	for _, name := range slices.Sorted(maps.Keys(h)) {
		p := &functionpb.Header{Name: text(name), Values: make([][]byte, len(h[name]))}
		for i, v := range h[name] {
			p.Values[i] = []byte(v)
		}
		out = append(out, p)
	}
	return out
}

// headersFromProto keeps names as they came, and never returns nil: handlers
// and servers write into the header that they are given.
func headersFromProto(list []*functionpb.Header) http.Header {
	h := make(http.Header, len(list))
	for _, p := range list {
		for _, v := range p.GetValues() {
			h[p.GetName()] = append(h[p.GetName()], string(v))
		}
	}
	return h
}

// namedToProto returns the wire form of values by name. It is a list, as maps of
// messages cost several times as much to encode and decode.
func namedToProto(m map[string]bindings.Value) []*functionpb.NamedValue {
	if len(m) == 0 {
		return nil
	}
	all := make([]functionpb.NamedValue, len(m))
	out := make([]*functionpb.NamedValue, 0, len(m))
	for k, v := range m {
		p := &all[len(out)]
		p.Name, p.Value = text(k), ValueToProto(v)
		out = append(out, p)
	}
	return out
}

func namedFromProto(list []*functionpb.NamedValue) (map[string]bindings.Value, error) {
	if len(list) == 0 {
		return nil, nil
	}
	out := make(map[string]bindings.Value, len(list))
	for _, p := range list {
		got, err := ValueFromProto(p.GetValue())
		if err != nil {
			return nil, fmt.Errorf("%q: %w", p.GetName(), err)
		}
		out[p.GetName()] = got
	}
	return out, nil
}

// text makes s fit for a string field, which must be UTF-8.
func text(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

func texts(m map[string]string) map[string]string {
	if len(m) == 0 {
		return nil
	}
	out := make(map[string]string, len(m))
	for k, v := range m {
		out[text(k)] = text(v)
	}
	return out
}
