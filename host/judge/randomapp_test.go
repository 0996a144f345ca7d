package judge_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/txtar"
)

// A randomApp is an app that follows from a seed: its files, the rows of what is done with
// it, and the language that it is written in. The same seed makes the same app in each.
type randomApp struct {
	language string
	files    []txtar.File
	rows     [][]string
}

// randomBlobs are in the container that functions read.
var randomBlobs = map[string]string{"one.txt": "the first", "7.txt": "seven", "json.txt": `{"a":1}`, "empty.txt": ""} // read only

// What a function answers: its outputs by their names, and the value it returns. A custom
// handler answers with it as it stands.
type randomPlan struct {
	Outputs     map[string]any
	ReturnValue any `json:",omitempty"`
}

// randomAppOf is the app of a name as rows have it, "node-3".
func randomAppOf(name string) *randomApp {
	language, seed, _ := strings.Cut(name, "-")
	n, err := strconv.Atoi(seed)
	if err != nil {
		panic(err)
	}
	return newRandomApp(n, language)
}

func newRandomApp(seed int, language string) *randomApp {
	m := &maker{Rand: rand.New(rand.NewPCG(uint64(seed), 25))}
	app := &randomApp{language: language}
	host := map[string]any{"version": "2.0", "extensions": map[string]any{
		"queues": map[string]any{"maxDequeueCount": 1 + m.IntN(3), "visibilityTimeout": "00:00:00", "maxPollingInterval": "00:00:01"},
		"http":   map[string]any{"routePrefix": m.prefix()},
	}}
	if m.in(4) {
		host["retry"] = m.policy()
	}
	plans := map[string]any{}
	for i := range 10 {
		name := m.name(i)
		var bindings []any
		if i < 6 {
			bindings = m.http(name, i, &app.rows, language+"-"+strconv.Itoa(seed))
		} else {
			bindings = m.queue(name, &app.rows, language+"-"+strconv.Itoa(seed))
		}
		function := map[string]any{"bindings": bindings}
		if m.in(4) {
			function["retry"] = m.policy()
		}
		plans[name] = m.plan(bindings)
		app.files = append(app.files, jsonFile(name+"/function.json", function))
	}
	app.files = append(app.files, jsonFile("host.json", host), jsonFile("plans.json", plans))
	return app
}

func jsonFile(name string, v any) txtar.File {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return txtar.File{Name: name, Data: text}
}

// A maker draws what an app is made of.
type maker struct {
	*rand.Rand
	route string
}

// in says yes once in n times.
func (m *maker) in(n int) bool { return m.IntN(n) == 0 }

func pick[T any](m *maker, of ...T) T { return of[m.IntN(len(of))] }

func (m *maker) prefix() string {
	m.route = pick(m, "api", "api", "api/v1", "")
	return m.route
}

// name is that of a function; those that begin with Fails fail.
func (m *maker) name(i int) string {
	return pick(m, "", "", "", "", "Fails", "Fails1", "Fails2") + pick(m, "Apple", "pear", "Fig", "QUINCE") + strconv.Itoa(i)
}

func (m *maker) policy() map[string]any {
	if m.in(3) {
		return map[string]any{"strategy": "exponentialBackoff", "maxRetryCount": 1 + m.IntN(2), "minimumInterval": "00:00:00.05", "maximumInterval": "00:00:00.1"}
	}
	return map[string]any{"strategy": "fixedDelay", "maxRetryCount": m.IntN(3), "delayInterval": "00:00:00.05"}
}

// http is a function of HTTP, and the requests to it.
func (m *maker) http(name string, i int, rows *[][]string, app string) []any {
	trigger := map[string]any{"type": "httpTrigger", "direction": "in", "name": "req"}
	if level := pick(m, "anonymous", "anonymous", "anonymous", "function", "admin", ""); level != "" {
		trigger["authLevel"] = level
	}
	methods := pick(m, nil, nil, []string{"get"}, []string{"GET", "post"}, []string{"post", "Put", "PATCH"}, []string{"delete"})
	if methods != nil {
		trigger["methods"] = methods
	}
	segments, values := []string{name}, []string{name}
	if !m.in(5) {
		segments, values = m.segments(i)
		trigger["route"] = strings.Join(segments, "/")
	}
	bindings := []any{trigger}
	bindings = append(bindings, m.others(name, append(parameters(segments), "a", "b.c", "Query.a", "Headers.x-a", "sys.methodname"))...)
	switch m.IntN(6) {
	case 0: // no answer
	case 1:
		bindings = append(bindings, map[string]any{"type": "http", "direction": "out", "name": "$return"})
	default:
		bindings = append(bindings, map[string]any{"type": "http", "direction": "out", "name": "res"})
	}
	for range 3 {
		method := pick(m, "GET", "POST", "PUT", "DELETE", "PATCH", "HEAD")
		if methods != nil && !m.in(4) {
			method = strings.ToUpper(pick(m, methods...))
		}
		path := "/" + strings.Join(append(strings.FieldsFunc(m.route, func(r rune) bool { return r == '/' }), values...), "/")
		path += pick(m, "", "", "/", "?a=1", "?a=1&a=2&b", "?a=x%20y&A=z&c=%C3%BC", "?a=")
		headers, body := pick(m, "", "x-functions-key: {key}", "X-A: one", "x-a: one & X-A: two & x-functions-key: {key}", "x-functions-key: {key}"), ""
		if method != "GET" && method != "HEAD" && !m.in(4) {
			kind := pick(m, "application/json", "application/json; charset=utf-8", "text/plain", "application/octet-stream", "application/x-www-form-urlencoded")
			headers = strings.TrimPrefix(headers+" & Content-Type: "+kind, " & ")
			body = m.message()
		}
		*rows = append(*rows, []string{app, name, strings.TrimSuffix(method+" "+path+" & "+headers, " & "), body})
		values = m.values(segments)
	}
	return bindings
}

// segments are those of a route, with the values of a request that it may take.
func (m *maker) segments(i int) (segments, values []string) {
	if !m.in(6) { // else it may meet that of another function
		segments = append(segments, "r"+strconv.Itoa(i))
	}
	used := map[string]bool{}
	for range 1 + m.IntN(2) {
		s := pick(m, "items", "Order", "{id}", "{id:int}", "{name:alpha}", "{a:length(1,4)}", "{a}-{b}", "{g:guid}", "{f:bool}")
		if names := parameters([]string{s}); !slices.ContainsFunc(names, func(n string) bool { return used[n] }) {
			segments = append(segments, s)
			for _, n := range names {
				used[n] = true
			}
		}
	}
	if last := pick(m, "", "", "{x?}", "{x=7}", "{x:int?}", "{*rest}", "special"); last != "" {
		segments = append(segments, last)
	}
	return segments, m.values(segments)
}

// values fill the parameters of a route.
func (m *maker) values(segments []string) (values []string) {
	for _, s := range segments {
		switch {
		case !strings.Contains(s, "{"):
			values = append(values, pick(m, s, s, s, strings.ToUpper(s)))
		case strings.Contains(s, "?") || strings.Contains(s, "="):
			if m.in(2) {
				values = append(values, pick(m, "7", "one"))
			}
		case strings.Contains(s, "*"):
			values = append(values, pick(m, "p/q", "one", "")) //nolint:gocritic // the last one ends in a slash
		case strings.Contains(s, "-"):
			values = append(values, pick(m, "a-b", "a-b-c", "one-two", "ab"))
		case strings.Contains(s, "guid"):
			values = append(values, pick(m, "11111111-2222-3333-4444-555555555555", "no-guid"))
		default:
			values = append(values, pick(m, "one", "7", "7", "true", "x%20y", "a%2Fb", "%C3%BC"))
		}
	}
	return values
}

// parameters are the names in the segments of a route.
func parameters(segments []string) (names []string) {
	for _, s := range segments {
		for _, part := range strings.Split(s, "{")[1:] {
			names = append(names, strings.TrimLeft(part[:strings.IndexAny(part, ":?=}")], "*"))
		}
	}
	return names
}

// queue is a function of a queue, and its messages.
func (m *maker) queue(name string, rows *[][]string, app string) []any {
	trigger := map[string]any{"type": "queueTrigger", "direction": "in", "name": "m", "queueName": "judge-{run}-" + strings.ToLower(name)}
	if kind := pick(m, "", "", "string", "binary"); kind != "" {
		trigger["dataType"] = kind
	}
	bindings := append([]any{trigger}, m.others(name, []string{"a", "b.c", "queueTrigger", "Id", "DequeueCount", "sys.methodname", "A", "nope"})...)
	if m.in(3) {
		bindings = append(bindings, map[string]any{"type": "queue", "direction": "out", "name": "$return", "queueName": "judge-{run}-" + strings.ToLower(name) + "-out"})
	}
	for range 3 {
		*rows = append(*rows, []string{app, name, "queue", m.message()})
	}
	return bindings
}

// others are the bindings beside the trigger and the answer.
func (m *maker) others(name string, expressions []string) (bindings []any) {
	place := "judge-{run}-" + strings.ToLower(name) + "-out"
	if m.in(3) {
		input := map[string]any{"type": "blob", "direction": "in", "name": "text", "path": "judge-{run}-in/" + pick(m, "one", "json", "empty", "missing", "{"+pick(m, expressions...)+"}") + ".txt"}
		if kind := pick(m, "", "string", "binary"); kind != "" {
			input["dataType"] = kind
		}
		bindings = append(bindings, input)
	}
	if m.in(2) {
		bindings = append(bindings, map[string]any{"type": "queue", "direction": "out", "name": "note", "queueName": place})
	}
	if m.in(2) {
		path := pick(m, "fixed", "x/{"+pick(m, expressions...)+"}", "{"+pick(m, expressions...)+"}.txt", "{"+pick(m, expressions...)+"}-{"+pick(m, expressions...)+"}")
		bindings = append(bindings, map[string]any{"type": "blob", "direction": "out", "name": "copy", "path": place + "/" + path})
	}
	return bindings
}

// message is the body of a request, or a message.
func (m *maker) message() string {
	return pick(m, `{"a":"one","b":{"c":"x y"}}`, `{"a":"one"}`, `{"a":7,"b":{"c":null}}`, `{"A":"one","b":{"C":true}}`,
		`{"a":[1],"b":"text"}`, `{"a":"2020-01-02T03:04:05Z","b":{"c":1.50}}`, `["one"]`, "text", "7", "true", `"one"`, "", " one ", "{", "\u00fc")
}

// plan is what a function with these bindings answers.
func (m *maker) plan(bindings []any) randomPlan {
	p := randomPlan{Outputs: map[string]any{}}
	for _, b := range bindings {
		b := b.(map[string]any)
		name := fmt.Sprint(b["name"])
		switch {
		case b["direction"] != "out" || m.in(8): // left out
		case name == "$return":
			p.ReturnValue = m.value(b["type"] == "http")
		default:
			p.Outputs[name] = m.value(b["type"] == "http")
		}
	}
	return p
}

// value is that of an output.
func (m *maker) value(http bool) any {
	plain := func() any {
		return pick[any](m, "text", "", "\u00fc \"q\"", 7, 1.5, -0.25, true, nil, map[string]any{"a": "one", "n": map[string]any{"m": []any{1, nil}}}, []any{"one", "two"}, []any{map[string]any{"a": 1}, 2}, []any{}, map[string]any{}, `{"a":1}`, `["x"]`)
	}
	if !http || m.in(6) {
		return plain()
	}
	answer := map[string]any{"body": plain()}
	if !m.in(3) {
		answer[pick(m, "statusCode", "status")] = pick[any](m, 200, 201, 202, 204, 404, 418, 500, "203", 304)
	}
	if !m.in(3) {
		headers := map[string]any{}
		if m.in(2) {
			headers[pick(m, "Content-Type", "content-type")] = pick(m, "application/json", "text/html", "application/xml; charset=utf-8", "image/png")
		}
		if m.in(2) {
			headers["X-Own"] = pick[any](m, "one", 7, "a, b")
		}
		if m.in(4) {
			headers["Location"] = "/elsewhere"
		}
		answer["headers"] = headers
	}
	return answer
}
