package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redeliver/redeliver/host/ops"
	"github.com/redeliver/redeliver/schemas"
)

// Ask has the host carry out an operation, and reads its answer into out.
type Ask func(ctx context.Context, in, out any) error

// Operation is the way of a tool that is an operation of the host. Fields of in that are
// set are so in each call, and no arguments. Text is the answer for people.
func Operation[In ops.Request[Out], Out any](ask Ask, name string, effect Effect, in In, text func(out *Out) string) Way {
	return Asked(ask, name, effect, in, func(_ *In, out *Out) string { return text(out) })
}

// Asked is Operation with a text that also depends on what was asked.
func Asked[In ops.Request[Out], Out any](ask Ask, name string, effect Effect, in In, tell func(in *In, out *Out) string) Way {
	o := newOperation(ops.RouteOf(in), reflect.ValueOf(in))
	w := Way{Name: name, Effect: effect, About: o.about(), Arguments: o.arguments, Answer: o.answer()}
	w.Do = func(ctx context.Context, given map[string]any) (Answer, error) {
		asked, out := in, *new(Out)
		if err := o.fill(ctx, &asked, given); err != nil {
			return Answer{}, err
		}
		if err := ask(ctx, asked, &out); err != nil {
			return Answer{}, err
		}
		Shorten(&out)
		answer := Answer{Text: unflagHead(tell(&asked, &out), w.Arguments)}
		if _, none := any(out).(ops.None); !none {
			answer.Data = out
		}
		return answer, nil
	}
	return w
}

// operation says how the arguments of a call travel.
type operation struct {
	route     ops.Route
	doc       operationDoc
	arguments []Argument
	params    map[string]ops.Param // by the names of arguments; those of a JSON body are not there
}

// operationDoc is what the OpenAPI description says of an operation.
type operationDoc struct {
	OperationID, Description string
	Parameters               []struct {
		Name, Description string
		Schema            map[string]any
	}
	RequestBody struct {
		Description string
		Content     map[string]struct {
			Schema struct {
				Properties map[string]map[string]any
				Required   []string
			}
		}
	}
	Responses map[string]struct {
		Content map[string]struct {
			Schema struct {
				Ref string `json:"$ref"`
			}
		}
	}
}

// description is the OpenAPI description: operations by method and path, schemas by name.
type description struct {
	operations map[string]operationDoc
	schemas    map[string]map[string]any
}

var described = sync.OnceValue(func() description {
	var api3 struct {
		Paths      map[string]map[string]operationDoc
		Components struct{ Schemas map[string]map[string]any }
	}
	if err := json.Unmarshal(schemas.ControlAPI(), &api3); err != nil {
		panic(err) // it is a part of the program
	}
	out := description{map[string]operationDoc{}, api3.Components.Schemas}
	for path, methods := range api3.Paths {
		for method, doc := range methods {
			out.operations[strings.ToUpper(method)+" "+path] = doc
		}
	}
	return out
})

// newOperation reads what an operation takes. Fields that are set already are no arguments.
func newOperation(route ops.Route, in reflect.Value) *operation {
	doc, ok := described().operations[route.Method+" "+ops.Prefix+route.Path]
	if !ok {
		panic("operation " + route.Name + " is not described")
	}
	o := &operation{route: route, doc: doc, params: map[string]ops.Param{}}
	for _, p := range route.Params() {
		if !in.FieldByIndex(p.Field.Index).IsZero() || p.In == "header" {
			continue
		}
		a := Argument{Name: p.Name, Required: p.Required, Schema: map[string]any{"type": "string"}}
		if p.In == "body" {
			a.Name, a.Body = "body", true
			a.Schema["description"] = cmp.Or(doc.RequestBody.Description, "a text; any other value is sent as its JSON")
		} else {
			a.Schema = o.parameter(p)
		}
		o.params[a.Name] = p
		o.arguments = append(o.arguments, a)
	}
	if route.JSON {
		o.fields(in)
	}
	return o
}

// parameter is the schema of a parameter, with the limits of a duration in words: JSON
// Schema knows none.
func (o *operation) parameter(p ops.Param) map[string]any {
	schema := map[string]any{}
	for _, of := range o.doc.Parameters {
		if of.Name == p.Name {
			schema = maps.Clone(of.Schema)
			if of.Description != "" {
				schema["description"] = of.Description
			}
		}
	}
	if least, ok := schema["minimum"]; ok && schema["type"] == "array" { // it is of each number
		items, _ := schema["items"].(map[string]any)
		schema["items"] = map[string]any{"type": items["type"], "minimum": least}
		delete(schema, "minimum")
	}
	if p.Field.Type != reflect.TypeFor[time.Duration]() {
		return schema
	}
	words := "a duration such as 1h30m"
	if most := p.Field.Tag.Get("max"); most != "" {
		words += ", at most " + most
	}
	if text, ok := schema["description"].(string); ok && strings.Contains(text, "e.g. ") {
		words = text
	} else if ok {
		words = text + ": " + words
	}
	schema["description"] = words
	return schema
}

// fields adds the arguments of a JSON body: those that are plain.
func (o *operation) fields(in reflect.Value) {
	body := o.doc.RequestBody.Content["application/json"].Schema
	for _, f := range reflect.VisibleFields(o.route.In) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		schema, ok := body.Properties[name]
		if !ok || f.Anonymous || schema["type"] == nil || !in.FieldByIndex(f.Index).IsZero() {
			continue
		}
		o.arguments = append(o.arguments, Argument{Name: name, Schema: schema})
	}
}

// about is the description of the operation without its name, with which it begins.
func (o *operation) about() string {
	text := strings.TrimPrefix(o.doc.Description, o.doc.OperationID+" ")
	if text == "" {
		return ""
	}
	text = strings.ToUpper(text[:1]) + text[1:]
	for _, s := range []struct{ before, refused string }{{". ", "Refused"}, {"; ", "refused"}} {
		text = status(s.before).ReplaceAllString(text, s.before+s.refused+"$1")
	}
	return text
}

// answer is the name of the schema of the operation's answer, or "" where it has none.
func (o *operation) answer() string {
	ref := o.doc.Responses[strconv.Itoa(o.route.Status)].Content["application/json"].Schema.Ref
	return ref[strings.LastIndexByte(ref, '/')+1:]
}

// status matches a refusal as descriptions for clients of the API have it.
func status(before string) *regexp.Regexp {
	return regexp.MustCompile(regexp.QuoteMeta(before) + `4\d\d( when| for|,)`)
}

// fill sets the fields of an operation as a request with these arguments does.
func (o *operation) fill(ctx context.Context, in any, given map[string]any) error {
	query, body, fields := url.Values{}, "", map[string]any{}
	path := map[string]string{}
	for _, p := range o.route.Params() { // one that is set already, and required, is read too
		if at := reflect.ValueOf(in).Elem().FieldByIndex(p.Field.Index); p.In == "query" && p.Required && at.Kind() == reflect.String && !at.IsZero() {
			query.Set(p.Name, at.String())
		}
	}
	for name, value := range given {
		p, ok := o.params[name]
		switch {
		case !ok:
			fields[name] = value
		case p.In == "body":
			body = text(value)
		case p.In == "path":
			path[p.Name] = text(value)
			for part := range strings.SplitSeq(path[p.Name], "/") { // "app/function"
				if part == "" || part == "." || part == ".." || strings.Contains(part, `\`) {
					return &Refusal{Text: fmt.Sprintf("%q is no name", path[p.Name])}
				}
			}
		default:
			for _, one := range list(value) {
				query.Add(p.Name, text(one))
			}
		}
	}
	if o.route.JSON {
		all, err := json.Marshal(fields)
		if err != nil {
			return err
		}
		body = string(all)
	}
	if most := o.route.Limit; most > 0 && int64(len(body)) > most {
		return &Refusal{Text: fmt.Sprintf("the body has %d bytes: want at most %d", len(body), most)}
	}
	r, err := http.NewRequestWithContext(ctx, o.route.Method, "http://host/?"+query.Encode(), strings.NewReader(body))
	if err != nil {
		return err
	}
	for name, value := range path {
		r.SetPathValue(name, value)
	}
	return ops.Decode(r, in)
}

// text is a value as a request has it: a text as it is, any other as its JSON.
func text(value any) string {
	switch value := value.(type) {
	case string:
		return value
	case json.RawMessage:
		return string(value)
	}
	out, _ := json.Marshal(value) // it was JSON
	return string(out)
}

// Without is the way without some arguments.
func (w Way) Without(names ...string) Way {
	w.Arguments = slices.DeleteFunc(slices.Clone(w.Arguments), func(a Argument) bool { return slices.Contains(names, a.Name) })
	return w
}

// Named is the way in which the argument that says what it is about is called "name", and
// is required.
func (w Way) Named(argument string) Way {
	w = w.Renamed(argument, "name")
	return w.edit("name", func(a *Argument) { a.Required = true })
}

// Renamed is the way with another name for an argument.
func (w Way) Renamed(argument, name string) Way {
	if argument == name {
		return w
	}
	w = w.edit(argument, func(a *Argument) { a.Name, a.Also = name, append(slices.Clone(a.Also), argument) })
	do := w.Do
	w.Do = func(ctx context.Context, given map[string]any) (Answer, error) {
		given = maps.Clone(given)
		if value, ok := given[name]; ok {
			delete(given, name)
			given[argument] = value
		}
		return do(ctx, given)
	}
	return w
}

// Among is the way in which an argument is one of some words.
func (w Way) Among(argument string, words ...string) Way {
	return w.edit(argument, func(a *Argument) { a.Schema["enum"] = words })
}

// Otherwise is the way with a value for an argument that is left out.
func (w Way) Otherwise(argument string, value int64) Way {
	w = w.edit(argument, func(a *Argument) {
		a.Schema["default"] = value
		if text, ok := a.Schema["description"].(string); ok {
			a.Schema["description"] = strings.TrimSuffix(text, " (default all)")
		}
	})
	do := w.Do
	w.Do = func(ctx context.Context, given map[string]any) (Answer, error) {
		if _, ok := given[argument]; !ok {
			given = maps.Clone(given)
			given[argument] = value
		}
		return do(ctx, given)
	}
	return w
}

// edit changes a copy of an argument.
func (w Way) edit(name string, change func(a *Argument)) Way {
	w.Arguments = slices.Clone(w.Arguments)
	a := w.argument(name)
	if a == nil {
		panic(fmt.Sprintf("way %q has no argument %q", w.Name, name))
	}
	a.Schema = maps.Clone(a.Schema)
	change(a)
	return w
}
