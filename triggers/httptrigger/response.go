package httptrigger

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/redeliver/redeliver/bindings"
)

// The types of a body whose headers do not name one.
const (
	typeText   = "text/plain; charset=utf-8"
	typeJSON   = "application/json; charset=utf-8"
	typeBinary = "application/octet-stream"
)

// ResponseFrom turns what a function gave to its http output into the response
// (host: HttpBinding.cs):
//
//   - nothing: 200 without a body;
//   - an object with a property `body`: that body, with the status from
//     `statusCode`, else from `status` (an integer or numeric text, else 200), and
//     with `headers` and `cookies`. Names count in any case;
//   - an object without `body`: the whole object is the body, 200, whatever else
//     it has;
//   - text that is JSON: as the value that it stands for; other text, bytes and
//     numbers: as they are, 200.
//
// A status that describes an error is a response like any other, not a failure.
// Errors are a status or a cookie that HTTP cannot carry, damaged JSON, and a
// value of kind Request. Like the platform, it skips headers that are neither
// scalar nor a list of scalars. Unlike it, it takes only strict JSON for JSON.
func ResponseFrom(v bindings.Value) (*bindings.HTTPResponse, error) {
	switch v.Kind {
	case bindings.Null:
		return &bindings.HTTPResponse{StatusCode: http.StatusOK}, nil
	case bindings.Response:
		return fromResponse(v.HTTPResponse)
	case bindings.String:
		if raw := strings.TrimSpace(v.Text); json.Valid([]byte(raw)) {
			return fromJSON([]byte(raw))
		}
		return plain(typeText, []byte(v.Text)), nil
	case bindings.JSON:
		if !json.Valid([]byte(v.Text)) {
			return nil, fmt.Errorf("the http output is not valid JSON")
		}
		return fromJSON(bytes.TrimSpace([]byte(v.Text)))
	case bindings.Bytes:
		return plain(typeBinary, v.Data), nil
	case bindings.Int:
		return plain(typeJSON, strconv.AppendInt(nil, v.Int, 10)), nil
	case bindings.Double, bindings.Strings, bindings.BytesList:
		raw, err := json.Marshal(plainValue(v))
		if err != nil {
			return nil, fmt.Errorf("the http output has no JSON form: %w", err)
		}
		return plain(typeJSON, raw), nil
	}
	return nil, fmt.Errorf("the http output cannot be a value of kind %d", v.Kind)
}

// plainValue returns v for encoding/json; bytes become base64.
func plainValue(v bindings.Value) any {
	switch v.Kind {
	case bindings.Double:
		return v.Double
	case bindings.Bytes:
		return v.Data
	case bindings.Strings, bindings.BytesList:
		list := make([]any, len(v.List))
		for i, e := range v.List {
			list[i] = plainValue(e)
		}
		return list
	}
	return v.Text
}

func fromResponse(r *bindings.HTTPResponse) (*bindings.HTTPResponse, error) {
	if r == nil {
		return &bindings.HTTPResponse{StatusCode: http.StatusOK}, nil
	}
	c := *r
	if c.StatusCode == 0 {
		c.StatusCode = http.StatusOK
	}
	return &c, checkStatus(c.StatusCode)
}

// plain returns a response of nothing but a body.
func plain(contentType string, body []byte) *bindings.HTTPResponse {
	r := &bindings.HTTPResponse{StatusCode: http.StatusOK, Body: body}
	if len(body) > 0 {
		r.Header = http.Header{"Content-Type": {contentType}}
	}
	return r
}

// fromJSON turns valid JSON without outer space into a response.
func fromJSON(raw []byte) (*bindings.HTTPResponse, error) {
	object, isObject := properties(raw)
	body, hasBody := object.get("body")
	if !isObject || !hasBody {
		return bodyOf(raw), nil
	}
	r := bodyOf(body)
	r.StatusCode = statusOf(object)
	if err := checkStatus(r.StatusCode); err != nil {
		return nil, err
	}
	if headers, ok := object.get("headers"); ok {
		setHeaders(r, headers)
	}
	if cookies, ok := object.get("cookies"); ok {
		if err := setCookies(r, cookies); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// bodyOf returns a response with a JSON value as its body: a string without its
// quotes, null as nothing, anything else as it is written.
func bodyOf(raw []byte) *bindings.HTTPResponse {
	var text string
	switch {
	case bytes.Equal(raw, []byte("null")):
		return plain("", nil)
	case json.Unmarshal(raw, &text) == nil:
		return plain(typeText, []byte(text))
	}
	return plain(typeJSON, raw)
}

// statusOf reads statusCode, or status if there is no statusCode. A value other
// than an integer or numeric text counts as 200.
func statusOf(o object) int {
	raw, ok := o.get("statusCode")
	if !ok {
		raw, ok = o.get("status")
	}
	if !ok {
		return http.StatusOK
	}
	text := string(raw)
	_ = json.Unmarshal(raw, &text) // a number stays as it is written
	n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 32)
	if err != nil {
		return http.StatusOK
	}
	return int(n)
}

func checkStatus(code int) error {
	if code < 100 || code > 999 {
		return fmt.Errorf("the http output has the status %d; HTTP has 100 to 999", code)
	}
	return nil
}

func setHeaders(r *bindings.HTTPResponse, raw []byte) {
	object, ok := properties(raw)
	if !ok {
		return
	}
	if r.Header == nil {
		r.Header = http.Header{}
	}
	for _, p := range object {
		var list []json.RawMessage
		if json.Unmarshal(p.value, &list) != nil {
			list = []json.RawMessage{p.value}
		}
		name := http.CanonicalHeaderKey(p.name)
		var values []string
		for _, raw := range list {
			if text, ok := scalar(raw); ok {
				values = append(values, text)
			}
		}
		if len(values) > 0 {
			r.Header[name] = values
		}
	}
}

// scalar returns the text of a JSON string, number or boolean.
func scalar(raw json.RawMessage) (string, bool) {
	var v any
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if dec.Decode(&v) != nil {
		return "", false
	}
	switch v := v.(type) {
	case string:
		return v, true
	case json.Number:
		return v.String(), true
	case bool:
		return strconv.FormatBool(v), true
	}
	return "", false
}

// object is a JSON object with its properties in the order of the text.
type object []property

type property struct {
	name  string
	value json.RawMessage
}

// get returns the first property of a name, ignoring case.
func (o object) get(name string) (json.RawMessage, bool) {
	for _, p := range o {
		if strings.EqualFold(p.name, name) {
			return p.value, true
		}
	}
	return nil, false
}

// properties reads valid JSON and reports whether it is an object.
func properties(raw []byte) (object, bool) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, false
	}
	var o object
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return nil, false
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, false
		}
		o = append(o, property{name.(string), value})
	}
	return o, true
}
