package bindings

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redeliver/redeliver/bindings/netjson"
)

// errNullMessage has the platform's text (webjobs storage extension, converters
// of the queue collector).
//
//lint:ignore ST1005 the platform's text
var errNullMessage = errors.New("Cannot enqueue a null queue message instance.")

// MessagesFrom splits the value of a queue output into the bodies of the
// messages that it stands for (spec storage 11.1): nothing for null, one body for
// text, bytes and objects, one per element for arrays. Text that looks like a
// JSON object or array is taken for one: it is written anew with an indentation
// of two spaces, and it fails the output when it does not parse.
//
// Source: functions host, FunctionBinding.cs ReadAsEnumerable and
// BindAsyncCollectorAsync.
func MessagesFrom(v Value) ([][]byte, error) {
	switch v.Kind {
	case Null:
		return nil, nil
	case String:
		return messagesFromText(v.Text)
	case JSON:
		return messagesFromJSON(v.Text)
	case Bytes:
		return [][]byte{v.Data}, nil
	case Strings, BytesList:
		bodies := make([][]byte, 0, len(v.List))
		for _, e := range v.List {
			body, err := scalarBody(e)
			if err != nil {
				return nil, err
			}
			bodies = append(bodies, body)
		}
		return bodies, nil
	default:
		body, err := scalarBody(v)
		if err != nil {
			return nil, err
		}
		return [][]byte{body}, nil
	}
}

// scalarBody returns the body for one element of a list, or a number.
func scalarBody(v Value) ([]byte, error) {
	switch v.Kind {
	case String, JSON:
		return []byte(v.Text), nil
	case Bytes:
		return v.Data, nil
	case Int:
		return strconv.AppendInt(nil, v.Int, 10), nil
	case Double:
		return []byte(netjson.Double(v.Double)), nil
	case Null:
		return nil, errNullMessage
	}
	return nil, errors.New("queue output: an HTTP request or response is not a message")
}

// looksLikeJSON is the original's test for text that it parses.
func looksLikeJSON(trimmed string) bool {
	return strings.HasPrefix(trimmed, "{") && strings.HasSuffix(trimmed, "}") ||
		strings.HasPrefix(trimmed, "[") && strings.HasSuffix(trimmed, "]")
}

func messagesFromText(text string) ([][]byte, error) {
	trimmed := strings.TrimSpace(text)
	if !looksLikeJSON(trimmed) {
		return [][]byte{[]byte(text)}, nil
	}
	return messagesParsed(trimmed, time.Local)
}

func messagesFromJSON(text string) ([][]byte, error) {
	trimmed := strings.TrimSpace(text)
	switch {
	case trimmed == "null" || trimmed == "":
		return nil, nil
	case trimmed[0] == '"': // a JSON string is a plain string
		var s string
		if err := json.Unmarshal([]byte(trimmed), &s); err != nil {
			return nil, badOutput(err)
		}
		return messagesFromText(s)
	}
	return messagesParsed(trimmed, nil)
}

// messagesParsed are the bodies that JSON stands for, as the platform's library writes it
// (observed of the platform's host 4.1037). Of text it reads dates too, in the zone of the
// machine.
func messagesParsed(text string, dates *time.Location) ([][]byte, error) {
	v, err := netjson.Parse(text, dates)
	if err != nil {
		return nil, badOutput(err)
	}
	elements, list := v.([]any)
	if !list {
		elements = []any{v}
	}
	bodies := make([][]byte, len(elements))
	for i, e := range elements {
		bodies[i] = []byte(netjson.Text(e))
	}
	return bodies, nil
}

func badOutput(err error) error {
	return fmt.Errorf("queue output: text looks like JSON but does not parse: %w", err)
}

// ContentType is what an output binding says of a body that MessagesFrom made of a
// value: text/plain for text, application/json for an object or an array,
// application/octet-stream for bytes.
func ContentType(v Value, body []byte) string {
	switch {
	case v.Kind == Bytes, v.Kind == BytesList:
		return "application/octet-stream"
	case looksLikeJSON(string(body)):
		return "application/json"
	}
	return "text/plain"
}
