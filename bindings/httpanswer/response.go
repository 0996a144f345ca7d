package httpanswer

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/netjson"
)

// From turns what a function gave to its http output into the answer to req (host:
// HttpBinding.cs):
//
//   - an object with a property `body`: that body, with the status from `statusCode`, else
//     from `status` (an integer or integer text, else 200), and with `headers`. Names
//     count in any case; `cookies` are those of a worker's response only, see [Parts];
//   - an object without `body`: the whole object is the body, 200, whatever else it has;
//   - text that is JSON, in the platform's wide sense (see [netjson.Parse]): as the value
//     that it stands for; other text, bytes and numbers: as they are, 200.
//
// A status that describes an error is a response like any other, not a failure. Errors,
// which fail the attempt, are JSON that the platform cannot read and a value of kind
// Request. req may be nil.
func From(v bindings.Value, req *bindings.HTTPRequest) (*bindings.HTTPResponse, error) {
	if v.Kind == bindings.Response {
		return fromResponse(v.HTTPResponse), nil
	}
	content, err := contentOf(v)
	if err != nil {
		return nil, err
	}
	if text, ok := content.(string); ok {
		parsed, err := netjson.Parse(text, time.Local)
		_, constructor := parsed.(*netjson.Constructor)
		switch {
		case errors.Is(err, netjson.ErrDate):
			return nil, fmt.Errorf("the http output: %w", err)
		case err == nil && !constructor:
			content = parsed
		}
	}
	object, ok := content.(*netjson.Object)
	if !ok {
		return Parts{Body: content}.Response(req), nil
	}
	parts, err := fromObject(object)
	if err != nil {
		return nil, err
	}
	return parts.Response(req), nil
}

// OfResult is the answer of a function without an http output, or whose output was not
// set: what it returned, in the form that the caller's Accept header asks for; 204 for
// nothing (host: HttpBinding.cs SetResponse).
func OfResult(v bindings.Value, req *bindings.HTTPRequest) (*bindings.HTTPResponse, error) {
	if v.Kind == bindings.Response {
		return fromResponse(v.HTTPResponse), nil
	}
	content, err := contentOf(v)
	if err != nil {
		return nil, err
	}
	return Parts{Body: content, Negotiate: true}.Response(req), nil
}

// contentOf is a value of a handler as the host holds it: as [netjson] has values, or
// []byte.
func contentOf(v bindings.Value) (any, error) {
	switch v.Kind {
	case bindings.Null:
		return nil, nil
	case bindings.String:
		return v.Text, nil
	case bindings.JSON:
		content, err := netjson.Parse(v.Text, nil)
		if err != nil {
			return nil, fmt.Errorf("the http output is not valid JSON: %w", err)
		}
		return content, nil
	case bindings.Bytes:
		if v.Data == nil {
			return []byte{}, nil
		}
		return v.Data, nil
	case bindings.Int:
		return v.Int, nil
	case bindings.Double:
		return v.Double, nil
	case bindings.Strings, bindings.BytesList:
		list := []any{}
		for _, e := range v.List {
			content, err := contentOf(e)
			if err != nil {
				return nil, err
			}
			list = append(list, content)
		}
		return list, nil
	}
	return nil, fmt.Errorf("the http output cannot be a value of kind %d", v.Kind)
}

// Body is the body of an answer in a value of a handler.
func Body(v bindings.Value) (any, error) { return contentOf(v) }

func fromResponse(r *bindings.HTTPResponse) *bindings.HTTPResponse {
	if r == nil {
		return &bindings.HTTPResponse{StatusCode: http.StatusOK}
	}
	c := *r
	if c.StatusCode == 0 {
		c.StatusCode = http.StatusOK
	}
	if c.Refused == "" && !sendable(c.StatusCode) {
		return refused(nil, "the status of the answer is %d, and clients take 200 to 999", c.StatusCode)
	}
	return &c
}

// fromObject reads the parts of a response in an object. The host reads the object anew
// for it, as values of another type: their text is that of .NET's collections.
func fromObject(object *netjson.Object) (Parts, error) {
	if constructs(object) {
		return Parts{}, errors.New("the http output is an object with a constructor in it")
	}
	again, err := netjson.Parse(netjson.Strict(object), time.Local)
	if err != nil {
		return Parts{}, fmt.Errorf("the http output: %w", err)
	}
	parts, _ := again.(*netjson.Object)
	body, ok := parts.Get("body")
	if !ok {
		return Parts{Body: object}, nil
	}
	a := Parts{Body: expanded(body)}
	if status, ok := parts.Get("statusCode"); ok {
		a.Status = status
	} else {
		a.Status, _ = parts.Get("status")
	}
	if headers, _ := parts.Get("headers"); headers != nil {
		if list, ok := headers.(*netjson.Object); ok {
			for _, m := range list.Members {
				a.Header = append(a.Header, Field{m.Name, expanded(m.Value)})
			}
		}
	}
	negotiate, _ := parts.Get("enableContentNegotiation")
	a.Negotiate = negotiate == true
	return a, nil
}

// constructs reports whether there is a constructor in a value.
func constructs(v any) bool {
	switch v := v.(type) {
	case *netjson.Constructor:
		return true
	case *netjson.Object:
		return slices.ContainsFunc(v.Members, func(m netjson.Member) bool { return constructs(m.Value) })
	case []any:
		return slices.ContainsFunc(v, constructs)
	}
	return false
}

// A collection is an object or array of a response that the host has read as an object of
// .NET.
type collection struct{ value any }

func expanded(v any) any {
	switch v.(type) {
	case *netjson.Object, []any:
		return collection{v}
	}
	return v
}

// text is the text of content as the host writes it: an object of a response is JSON
// without blanks, and an array the name of its type.
func text(content any) string {
	c, ok := content.(collection)
	if !ok {
		return netjson.Text(content)
	}
	if _, list := c.value.([]any); list {
		return "System.Collections.Generic.List`1[System.Object]"
	}
	return netjson.Compact(c.value)
}

// headerText is the text of a header's value.
func headerText(v any) string {
	if c, ok := v.(collection); ok {
		if _, object := c.value.(*netjson.Object); object {
			return "System.Dynamic.ExpandoObject"
		}
	}
	return text(v)
}

// refused is the answer in place of one that cannot be sent. The headers before the fault
// stay (host: ExceptionMiddleware.cs).
func refused(header http.Header, format string, args ...any) *bindings.HTTPResponse {
	return &bindings.HTTPResponse{StatusCode: http.StatusInternalServerError, Header: header, Refused: fmt.Sprintf(format, args...)}
}

// sendable reports whether a final answer can have the status. The platform sends any, and
// clients break off at others.
func sendable(status int) bool { return status >= 200 && status <= 999 }
