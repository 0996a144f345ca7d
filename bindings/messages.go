package bindings

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

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
// BindAsyncCollectorAsync. Numbers and escapes keep their spelling here, while
// the original's JSON library normalises some of them.
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
	if trimmed[0] == '[' {
		return messagesFromArray(trimmed)
	}
	body, err := indented(trimmed)
	if err != nil {
		return nil, err
	}
	return [][]byte{body}, nil
}

func messagesFromJSON(text string) ([][]byte, error) {
	trimmed := strings.TrimSpace(text)
	switch {
	case trimmed == "null" || trimmed == "":
		return nil, nil
	case trimmed[0] == '[':
		return messagesFromArray(trimmed)
	case trimmed[0] == '"': // a JSON string is a plain string
		var s string
		if err := json.Unmarshal([]byte(trimmed), &s); err != nil {
			return nil, badOutput(err)
		}
		return messagesFromText(s)
	}
	body, err := indented(trimmed)
	if err != nil {
		return nil, err
	}
	return [][]byte{body}, nil
}

func messagesFromArray(text string) ([][]byte, error) {
	var elements []json.RawMessage
	if err := json.Unmarshal([]byte(text), &elements); err != nil {
		return nil, badOutput(err)
	}
	bodies := make([][]byte, 0, len(elements))
	for _, e := range elements {
		switch {
		case string(e) == "null":
			return nil, errNullMessage
		case e[0] == '"':
			var s string
			if err := json.Unmarshal(e, &s); err != nil {
				return nil, badOutput(err)
			}
			bodies = append(bodies, []byte(s))
		default:
			body, err := indented(string(e))
			if err != nil {
				return nil, err
			}
			bodies = append(bodies, body)
		}
	}
	return bodies, nil
}

func indented(text string) ([]byte, error) {
	var b bytes.Buffer
	if err := json.Indent(&b, []byte(text), "", "  "); err != nil {
		return nil, badOutput(err)
	}
	return b.Bytes(), nil
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
