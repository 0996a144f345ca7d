package ops

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redeliver/redeliver/schemas"
)

// A Param is a field of an operation that a request carries by itself: in its path,
// query or header, or as the whole body.
type Param struct {
	In, Name string // "query", "max"
	Required bool
	Field    reflect.StructField
}

// Params are the parameters of an operation.
func (r Route) Params() (out []Param) {
	for _, f := range reflect.VisibleFields(r.In) {
		p := Param{Field: f}
		for _, p.In = range []string{"path", "query", "header", "body"} {
			if tag, ok := f.Tag.Lookup(p.In); ok && f.Name != "Op" {
				var more string
				p.Name, more, _ = strings.Cut(tag, ",")
				p.Required = more == "required" || p.In == "path"
				out = append(out, p)
			}
		}
	}
	return out
}

// Decode reads an operation, a pointer to its struct, from a request that was routed to
// it. The error of a request that asks for what cannot be is an *[Error]; any other is
// one of reading the body.
func Decode(r *http.Request, in any) error {
	v := reflect.ValueOf(in).Elem()
	route, query := routeOf(v.Type()), r.URL.Query()
	if err := route.refuseUnknown(query); err != nil {
		return err
	}
	for _, p := range route.Params() {
		var values []string
		switch p.In {
		case "path":
			values = []string{r.PathValue(p.Name)}
		case "query":
			values = query[p.Name]
		case "header":
			values = r.Header.Values(p.Name)
		default:
			if err := decodeBody(r, v.FieldByIndex(p.Field.Index)); err != nil {
				return err
			}
			continue
		}
		if err := p.decode(values, v.FieldByIndex(p.Field.Index)); err != nil {
			return err
		}
	}
	if route.JSON {
		return decodeJSON(r.Body, in, v.Type())
	}
	return nil
}

// refuseUnknown refuses parameters of a query that the operation does not have: they would
// change nothing, and who has misspelt one would not learn it.
func (r Route) refuseUnknown(query url.Values) error {
	var known []string
	for _, p := range r.Params() {
		if p.In == "query" {
			known = append(known, p.Name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(query)) {
		if slices.Contains(known, name) || name == "code" { // of a key
			continue
		}
		out := &Error{Status: http.StatusBadRequest, Text: fmt.Sprintf("the operation has no parameter %q", name)}
		if near := schemas.Meant(name, known); near != "" {
			out.Hint = fmt.Sprintf("did you mean %q?", near)
		}
		return out
	}
	return nil
}

// decodeBody reads a body as a whole, or hands it on as what the operation reads.
func decodeBody(from *http.Request, into reflect.Value) error {
	if into.Kind() == reflect.Interface {
		into.Set(reflect.ValueOf(measured{from.Body, max(from.ContentLength, 0)}))
		return nil
	}
	text, err := io.ReadAll(from.Body)
	into.SetBytes(text)
	return err
}

// measured is a body whose sender has said how long it is.
type measured struct {
	io.Reader
	length int64
}

// LengthOf is how long a body is that [Decode] hands on, in bytes; 0: its sender did not say.
func LengthOf(body io.Reader) int64 {
	m, _ := body.(measured)
	return m.length
}

// decodeJSON reads a body of settings, which may be empty.
func decodeJSON(from io.Reader, in any, t reflect.Type) error {
	text, err := io.ReadAll(from)
	if err != nil || len(bytes.TrimSpace(text)) == 0 {
		return err
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(in); err != nil {
		op, _ := t.FieldByName("Op")
		what, ok := op.Tag.Lookup("fault")
		if !ok {
			what = "the body has the wrong form"
		}
		return &Error{Status: http.StatusBadRequest, Text: what + ": " + err.Error()}
	}
	return nil
}

// decode sets a field to what a request says. Of texts, missing and empty are the same,
// unless the field is a pointer.
func (p Param) decode(values []string, into reflect.Value) error {
	switch into.Kind() {
	case reflect.Slice:
		for _, text := range values {
			one := reflect.New(into.Type().Elem()).Elem()
			if err := p.parse(text, one); err != nil {
				return err
			}
			into.Set(reflect.Append(into, one))
		}
		return nil
	case reflect.Pointer:
		if len(values) > 0 {
			into.Set(reflect.ValueOf(&values[0]))
		}
		return nil
	}
	text := p.Field.Tag.Get("default")
	if len(values) > 0 && values[0] != "" {
		text = values[0]
	}
	if text == "" && !p.Required {
		return nil
	}
	return p.parse(text, into)
}

func (p Param) parse(text string, into reflect.Value) error {
	switch into.Kind() {
	case reflect.String:
		into.SetString(text)
	case reflect.Bool:
		yes, _ := strconv.ParseBool(text)
		into.SetBool(yes)
	default:
		n, err := p.number(text)
		if err != nil || p.Beyond(n) {
			return p.refuse(text)
		}
		into.SetInt(n)
	}
	return nil
}

// number is a number, or a duration for a field that is one.
func (p Param) number(text string) (int64, error) {
	if t := p.Field.Type; t == reflect.TypeFor[time.Duration]() {
		d, err := time.ParseDuration(text)
		return int64(d), err
	}
	return strconv.ParseInt(text, 10, 64)
}

// Beyond reports whether a number is outside the limits that the tags set.
func (p Param) Beyond(n int64) bool {
	limit := func(tag string) (int64, bool) {
		text, ok := p.Field.Tag.Lookup(tag)
		if !ok {
			return 0, false
		}
		l, err := p.number(text)
		if err != nil {
			panic(fmt.Sprintf("field %s: %v", p.Field.Name, err))
		}
		return l, true
	}
	least, below := limit("min")
	most, above := limit("max")
	return below && n < least || above && n > most
}

func (p Param) refuse(text string) error {
	fault := cmp.Or(p.Field.Tag.Get("fault"), p.Name+" must be "+cmp.Or(p.Field.Tag.Get("want"), "a number"))
	if strings.Contains(fault, "%q") {
		fault = fmt.Sprintf(fault, text)
	}
	return &Error{Status: http.StatusBadRequest, Text: fault, Hint: p.Field.Tag.Get("hint")}
}

// Check refuses what [Decode] would refuse in a request for the operation, for a caller who
// makes none: numbers beyond their limits, and no body where one is read.
func (r Route) Check(in any) error {
	for _, p := range r.Params() {
		field := reflect.ValueOf(in).FieldByIndex(p.Field.Index)
		if p.In == "body" {
			if field.Kind() == reflect.Interface && field.IsNil() {
				return &Error{Status: http.StatusBadRequest, Text: "the body is missing", Hint: `an empty one is strings.NewReader("")`}
			}
			continue
		}
		texts := p.encode(field)
		if len(texts) == 0 && !p.Required {
			continue
		}
		if err := p.decode(texts, reflect.New(field.Type()).Elem()); err != nil {
			return err
		}
	}
	return nil
}

// NewRequest is the request for an operation, to the host at base, such as
// "http://localhost:7071". Parameters that are zero and have no default are left out.
func NewRequest(ctx context.Context, base string, in any) (*http.Request, error) {
	v := reflect.ValueOf(in)
	route := routeOf(v.Type())
	path, query, header := route.Path, url.Values{}, http.Header{}
	var body io.Reader
	for _, p := range route.Params() {
		field := v.FieldByIndex(p.Field.Index)
		switch p.In {
		case "path":
			path = strings.ReplaceAll(path, "{"+p.Name+"}", url.PathEscape(field.String()))
		case "query":
			if texts := p.encode(field); len(texts) > 0 {
				query[p.Name] = texts
			}
		case "header":
			header.Set(p.Name, field.String())
		default:
			body = encodeBody(field)
		}
	}
	if route.JSON {
		text, err := json.Marshal(in)
		if err != nil {
			return nil, err
		}
		body = bytes.NewReader(text)
	}
	address := base + Prefix + path
	if len(query) > 0 {
		address += "?" + query.Encode()
	}
	r, err := http.NewRequestWithContext(ctx, route.Method, address, body)
	if err == nil {
		r.Header = header
	}
	return r, err
}

func encodeBody(field reflect.Value) io.Reader {
	if field.Kind() == reflect.Interface {
		body, _ := field.Interface().(io.Reader)
		return body
	}
	return bytes.NewReader(field.Bytes())
}

// encode is a field as a request says it.
func (p Param) encode(field reflect.Value) (out []string) {
	_, always := p.Field.Tag.Lookup("default")
	switch {
	case field.Kind() == reflect.Slice:
		for i := range field.Len() {
			out = append(out, fmt.Sprint(field.Index(i)))
		}
	case field.IsZero() && !always:
	case field.Kind() == reflect.Pointer:
		out = []string{field.Elem().String()}
	default:
		out = []string{fmt.Sprint(field.Interface())}
	}
	return out
}
