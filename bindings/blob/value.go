package blob

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/redeliver/redeliver/bindings"
)

// ContentFrom returns the bytes that a blob output writes for a value
// (spec storage 11.2): text as UTF-8, bytes as they are, JSON objects and arrays
// compact. Numbers and booleans, also as JSON, are written as .NET lays them out
// in memory: 4 bytes for an integer, of which one beyond 32 bits loses the rest, 8
// for a double, little end first, and one byte for a boolean. Null has no content:
// ok is false.
//
// Source: functions host, FunctionBinding.cs ConvertValueToStream.
func ContentFrom(v bindings.Value) (content []byte, ok bool, err error) {
	switch v.Kind {
	case bindings.Null:
		return nil, false, nil
	case bindings.String:
		return []byte(v.Text), true, nil
	case bindings.Bytes:
		return v.Data, true, nil
	case bindings.Int:
		return netInteger(v.Int), true, nil
	case bindings.Double:
		return netDoubleBytes(v.Double), true, nil
	case bindings.JSON:
		return contentFromJSON(v.Text)
	case bindings.Strings:
		list := make([]string, 0, len(v.List))
		for _, e := range v.List {
			list = append(list, e.Text)
		}
		content, err = json.Marshal(list)
		return content, err == nil, err
	}
	return nil, false, errors.New("blob output: a list of bytes, a request or a response is not the content of a blob")
}

func contentFromJSON(text string) (content []byte, ok bool, err error) {
	fail := func(err error) ([]byte, bool, error) {
		return nil, false, fmt.Errorf("blob output: %w", err)
	}
	switch text = strings.TrimSpace(text); {
	case text == "" || text == "null":
		return nil, false, nil
	case text == "true":
		return []byte{1}, true, nil
	case text == "false":
		return []byte{0}, true, nil
	case text[0] == '"':
		var s string
		if err := json.Unmarshal([]byte(text), &s); err != nil {
			return fail(err)
		}
		return []byte(s), true, nil
	case text[0] == '{' || text[0] == '[':
		var b bytes.Buffer
		if err := json.Compact(&b, []byte(text)); err != nil {
			return fail(err)
		}
		return b.Bytes(), true, nil
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return netInteger(n), true, nil
	}
	var f float64
	if err := json.Unmarshal([]byte(text), &f); err != nil {
		return fail(err)
	}
	return netDoubleBytes(f), true, nil
}

func netInteger(n int64) []byte {
	return binary.LittleEndian.AppendUint32(nil, uint32(n))
}

func netDoubleBytes(f float64) []byte {
	return binary.LittleEndian.AppendUint64(nil, math.Float64bits(f))
}

// ValueFrom returns the value that a handler receives for a blob's content,
// by the dataType of its binding: bytes for "binary" and "stream", else text.
// Bytes that are no UTF-8 become U+FFFD in a text, see [bindings.Text].
func ValueFrom(content []byte, dataType string) bindings.Value {
	switch strings.ToLower(dataType) {
	case "binary", "stream":
		return bindings.BytesValue(content)
	}
	content = bytes.TrimPrefix(content, []byte("\xef\xbb\xbf")) // a byte order mark is no text
	return bindings.StringValue(bindings.Text(content))
}
