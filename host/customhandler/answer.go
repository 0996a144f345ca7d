package customhandler

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/httpanswer"
	"github.com/redeliver/redeliver/bindings/netjson"
	"github.com/redeliver/redeliver/functions/call"
)

// requestOf is the request that an attempt answers; nil: none.
func requestOf(r *call.Request) *bindings.HTTPRequest {
	if len(r.Inputs) == 0 {
		return nil
	}
	return r.Inputs[0].Value.HTTP
}

// hostValue is a returned value as the host holds it: with texts in the form of dates as
// dates. Text that is itself one has the text of a date. No text at all is no bytes, as
// other base64 is bytes, unless the value is to be text. The error is netjson.ErrDate.
func hostValue(v bindings.Value, asText bool) (bindings.Value, error) {
	if v.Kind == bindings.String && v.Text == "" && !asText {
		return bindings.BytesValue([]byte{}), nil
	}
	if v.Kind != bindings.String && v.Kind != bindings.JSON {
		return v, nil
	}
	raw := v.Text
	if v.Kind == bindings.String {
		raw = netjson.Compact(v.Text)
	}
	held, err := netjson.Parse(raw, time.Local)
	switch date, is := held.(netjson.Date); {
	case errors.Is(err, netjson.ErrDate):
		return v, err
	case is:
		return bindings.StringValue(netjson.Text(date)), nil
	case err != nil || v.Kind == bindings.String:
		return v, nil
	}
	return bindings.JSONValue([]byte(netjson.Compact(held))), nil
}

// httpAnswer is the value of the http output as the host takes it: an object of which
// statusCode, body and headers count, in any letters, and the whole of whose absence is an
// empty object (host: HttpScriptInvocationResultExtensions.cs GetHttpOutputBindingResponse).
// A status is read from statusCode alone: `status` never has an effect.
func httpAnswer(raw json.RawMessage, req *bindings.HTTPRequest) (bindings.Value, error) {
	a := httpanswer.Parts{Body: &netjson.Object{}}
	if raw != nil {
		held, err := netjson.Parse(string(raw), time.Local)
		if err != nil {
			return bindings.Value{}, err
		}
		again, err := netjson.Parse(netjson.Text(held), time.Local) // the host reads the text of what it has read
		if err != nil {
			return bindings.Value{}, err
		}
		object, ok := again.(*netjson.Object)
		if !ok {
			return bindings.Value{}, errors.New("it must be an object with statusCode, headers and body")
		}
		if a, err = answerOf(object); err != nil {
			return bindings.Value{}, err
		}
	}
	return bindings.Value{Kind: bindings.Response, HTTPResponse: a.Response(req)}, nil
}

func answerOf(object *netjson.Object) (a httpanswer.Parts, err error) {
	a.Body, _ = object.Get("body")
	for _, name := range []string{"statusCode", "status"} {
		status, _ := object.Get(name)
		switch status.(type) {
		case *netjson.Object, []any:
			return a, fmt.Errorf("%s is neither text nor a number", name)
		}
		if name == "statusCode" && status != nil {
			a.Status = netjson.Text(status)
			if _, isDouble := status.(float64); isDouble {
				a.Status = netjson.Compact(status) // "201.0", which is no integer
			}
		}
	}
	switch headers, _ := object.Get("headers"); headers := headers.(type) {
	case nil:
	case *netjson.Object:
		for _, m := range headers.Members {
			a.Header = append(a.Header, httpanswer.Field{Name: m.Name, Value: m.Value})
		}
	default:
		return a, errors.New("headers is no object")
	}
	return a, nil
}
