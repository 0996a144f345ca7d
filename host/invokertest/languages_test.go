package invokertest_test

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/functions/call"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/invokertest"
)

// Functions in each language and model pass the suite of those in Go.
func TestLanguages(t *testing.T) {
	t.Parallel()
	for _, m := range models() {
		t.Run(m.title(), func(t *testing.T) {
			t.Parallel()
			env, language := m.need(t), m.language()
			if m.official() {
				language.ErrorType = "" // which these workers keep to themselves
				if m.runtime == "java" {
					language.Carried, language.Chatter = carriedByOfficialJava, "invoked by Java Worker"
				}
			}
			invokertest.Run(t, invokertest.Harness{
				Process: true, Language: language,
				New: func(t *testing.T, clk clock.Clock) invokertest.Invoker { return m.start(t, clk, m.folder(t), env) },
			})
		})
	}
}

// language is how a model differs from Go.
func (m model) language() *invokertest.Language {
	levels := [3]call.Level{call.Information, call.Warning, call.ErrorLevel}
	switch m.name {
	case "node-classic":
		return &invokertest.Language{Carried: carriedByClassicNode, ErrorType: "RangeError", Stack: "functions.js", Levels: levels}
	case "node-v4":
		return &invokertest.Language{Declares: true, Carried: carriedByNode, ErrorType: "RangeError", Stack: "functions.js", Levels: levels}
	case "python-v1":
		return &invokertest.Language{Carried: carriedByPython, NoPolicy: " retry 0/0", ErrorType: "LookupError", Stack: "functions.py", Levels: levels}
	case "python-v2":
		return &invokertest.Language{Declares: true, Carried: carriedByPython, NoPolicy: " retry 0/0", ErrorType: "LookupError", Stack: "function_app.py", Levels: levels}
	case "java":
		return &invokertest.Language{Carried: carriedByJava, Echoes: echoesInJava, NoPolicy: " retry 0/0", ErrorType: "java.util.NoSuchElementException", Stack: "at suite.Functions.fail(Functions.java:", Levels: levels}
	}
	return &invokertest.Language{
		Carried: carriedByHTTP, ErrorType: "HttpRequestException", NoTrace: true,
		Levels: [3]call.Level{call.Information, call.Information, call.Information},
	}
}

// carriedByNode: JSON becomes what JavaScript has, and lists become JSON.
func carriedByNode(v bindings.Value) (bindings.Value, bool) {
	var number float64
	switch v.Kind {
	case bindings.JSON:
		if json.Unmarshal([]byte(v.Text), &number) != nil {
			return v, true
		}
		if number == math.Trunc(number) {
			return bindings.Value{Kind: bindings.Int, Int: int64(number)}, true
		}
		return bindings.Value{Kind: bindings.Double, Double: number}, true
	case bindings.Strings:
		return listOf(v, func(m bindings.Value) any { return m.Text }), true
	case bindings.BytesList:
		return listOf(v, func(m bindings.Value) any {
			numbers := []int{}
			for _, b := range m.Data {
				numbers = append(numbers, int(b))
			}
			return struct {
				Type string `json:"type"`
				Data []int  `json:"data"`
			}{"Buffer", numbers}
		}), true
	}
	return v, true
}

// carriedByClassicNode: an empty text is no output there.
func carriedByClassicNode(v bindings.Value) (bindings.Value, bool) {
	if v.Kind == bindings.String && v.Text == "" {
		return bindings.Value{}, true
	}
	return carriedByNode(v)
}

// carriedByPython: a binding without a type of its own gives texts, also of JSON, and
// bytes; lists belong to the types that come in batches.
func carriedByPython(v bindings.Value) (bindings.Value, bool) {
	if v.Kind == bindings.JSON {
		v.Kind = bindings.String
	}
	return v, v.Kind != bindings.Strings && v.Kind != bindings.BytesList
}

// carriedByJava: numbers of JSON become Double for an Object, as with Gson, and lists
// become JSON, with bytes as numbers.
func carriedByJava(v bindings.Value) (bindings.Value, bool) {
	var number float64
	switch v.Kind {
	case bindings.JSON:
		if json.Unmarshal([]byte(v.Text), &number) == nil {
			return bindings.Value{Kind: bindings.Double, Double: number}, true
		}
		return bindings.JSONValue([]byte(map[string]string{`[1,2]`: `[1.0,2.0]`, `{"id":7}`: `{"id":7.0}`}[v.Text])), true
	case bindings.Strings:
		return listOf(v, func(m bindings.Value) any { return m.Text }), true
	case bindings.BytesList:
		return listOf(v, func(m bindings.Value) any {
			numbers := []int8{}
			for _, b := range m.Data {
				numbers = append(numbers, int8(b))
			}
			return numbers
		}), true
	}
	return v, true
}

// carriedByOfficialJava: no value becomes null.
func carriedByOfficialJava(v bindings.Value) (bindings.Value, bool) {
	if v.Kind == bindings.Null {
		return bindings.JSONValue([]byte("null")), true
	}
	return carriedByJava(v)
}

// echoesInJava: a parameter of type Object is given what the text is as JSON.
func echoesInJava(v bindings.Value) string {
	switch v.Kind {
	case bindings.String:
		return "EchoText"
	case bindings.Bytes:
		return "EchoBytes"
	case bindings.Strings:
		return "EchoTexts"
	case bindings.BytesList:
		return "EchoBlocks"
	}
	return "Echo"
}

// carriedByHTTP: lists are JSON, with bytes as base64.
func carriedByHTTP(v bindings.Value) (bindings.Value, bool) {
	switch v.Kind {
	case bindings.Strings:
		return listOf(v, func(m bindings.Value) any { return m.Text }), true
	case bindings.BytesList:
		return listOf(v, func(m bindings.Value) any { return m.Data }), true
	}
	return v, true
}

func listOf(v bindings.Value, of func(bindings.Value) any) bindings.Value {
	list := []any{}
	for _, m := range v.List {
		list = append(list, of(m))
	}
	text, _ := json.Marshal(list)
	return bindings.JSONValue(text)
}
