package bindings

import (
	"encoding/json"
	"io"
	"net/http"
)

// ValueKind says which form a [Value] has. The forms mirror the TypedData
// message of the platform's language-worker protocol (proto: FunctionRpc.proto),
// so that one converter serves every kind of handler.
type ValueKind uint8

// The forms of a value.
const (
	Null      ValueKind = iota // nothing: a missing blob, an output that was not set
	String                     // Text holds the characters
	JSON                       // Text holds one JSON document
	Bytes                      // Data holds the bytes
	Request                    // HTTP holds a request
	Response                   // HTTPResponse holds a response
	Strings                    // List holds String values: a batch of text
	BytesList                  // List holds Bytes values: a batch of binary
	Int                        // Int holds a signed integer
	Double                     // Double holds a floating-point number
	Model                      // Model says what the handler's own library opens
	Models                     // List holds Model values
)

// Value is what a handler receives from an input or trigger binding and gives
// to an output binding. The zero Value is Null. Values are plain data, and do
// not change once they are passed on.
type Value struct {
	Kind         ValueKind
	Text         string
	Data         []byte
	HTTP         *HTTPRequest
	HTTPResponse *HTTPResponse
	List         []Value
	Int          int64
	Double       float64
	Model        *ModelData
}

// ModelData stands for a value that a library in the handler's process makes, such as a
// client for a blob: the platform's model binding data, by deferred binding (spec
// workers-dotnet-java 1.8). Source and ContentType say what Content is.
type ModelData struct {
	Source, ContentType string
	Content             []byte
}

// The content types of a [ModelData].
const (
	ModelJSON  = "application/json"
	ModelBytes = "application/octet-stream"
)

// ModelValue returns a Model value whose content is the JSON form of content, which has
// one.
func ModelValue(source string, content any) Value {
	raw, err := json.Marshal(content)
	if err != nil { // plain values
		panic(err)
	}
	return Value{Kind: Model, Model: &ModelData{Source: source, ContentType: ModelJSON, Content: raw}}
}

// Plain returns v for handlers without such a library: of a Model the content, as JSON or
// bytes.
func (v Value) Plain() Value {
	switch v.Kind {
	case Model:
		switch {
		case v.Model == nil:
			return Value{}
		case v.Model.ContentType == ModelJSON:
			return JSONValue(v.Model.Content)
		}
		return BytesValue(v.Model.Content)
	case Models:
		out := Value{Kind: BytesList}
		for _, m := range v.List {
			if m.Model != nil {
				out.List = append(out.List, BytesValue(m.Model.Content))
			}
		}
		return out
	}
	return v
}

// HTTPRequest is the request that an HTTP trigger hands to its function. Body
// is complete: it is read once and replayed for every attempt.
type HTTPRequest struct {
	Method string
	URL    string // absolute, with scheme, host and query
	Header http.Header

	// HeaderNames are the names of Header as functions see them, in their order; nil: as
	// they are, sorted.
	HeaderNames []string

	Params map[string]string // route parameters, `{id}` of the route
	Absent []string          // those without a value, `{id?}`
	Route  string            // the whole template, "/api/orders/{id}"; empty without a match
	Body   []byte

	// Key is what the host knows of the caller.
	Key HTTPKey

	// Caller is the IP address that the request came from; empty without a socket.
	Caller string

	// Stream takes the place of Body for a function that is called once and reads its
	// request as it comes in; nil for all others.
	Stream HTTPStream
}

// HTTPKey is the key of the app that a caller has sent: its level, "Function", "System" or
// "Admin", and its name, "master" or "default", say. Without a key that is one, both are
// empty.
type HTTPKey struct{ Level, Name string }

// HTTPStream is the connection with the caller while the function runs. Read reads the
// body; a body beyond the caller's limit is an error. One goroutine may read while
// another answers.
type HTTPStream interface {
	io.Reader

	// Answer begins the answer, once. Header is kept.
	Answer(status int, header http.Header) HTTPAnswer

	// Fail is called for an answer that has not begun when its function fails: the
	// caller's answer has its header all the same.
	Fail(header http.Header)
}

// HTTPAnswer is the body of an answer. What is written reaches the caller at once; an
// answer that is not closed has broken off, and so has its connection.
type HTTPAnswer interface {
	io.WriteCloser

	// Trailer sets the headers that follow the body, before Close.
	Trailer(http.Header)
}

// HTTPResponse is the answer of an HTTP-triggered function. StatusCode 0 means
// 200.
type HTTPResponse struct {
	StatusCode int
	Header     http.Header
	Body       []byte

	// Refused says why the host answers in place of the function, whose own answer cannot
	// be sent; empty: it does not.
	Refused string `json:",omitempty"`
}

// StringValue returns a String value.
func StringValue(s string) Value { return Value{Kind: String, Text: s} }

// StringsValue returns a list of text.
func StringsValue(list []string) Value {
	v := Value{Kind: Strings, List: make([]Value, len(list))}
	for i, s := range list {
		v.List[i] = StringValue(s)
	}
	return v
}

// JSONValue returns a JSON value; raw must be one valid JSON document.
func JSONValue(raw json.RawMessage) Value { return Value{Kind: JSON, Text: string(raw)} }

// Batch returns the values of a batch as one: those of JSON documents are a JSON array.
// All are of the first one's form.
func Batch(list []Value) Value {
	if len(list) == 0 {
		return Value{Kind: Strings}
	}
	switch list[0].Kind {
	case JSON:
		raw := make([]json.RawMessage, len(list))
		for i, v := range list {
			raw[i] = json.RawMessage(v.Text)
		}
		all, err := json.Marshal(raw)
		if err != nil { // a JSON value holds JSON
			panic(err)
		}
		return JSONValue(all)
	case Bytes:
		return Value{Kind: BytesList, List: list}
	case Model:
		return Value{Kind: Models, List: list}
	}
	return Value{Kind: Strings, List: list}
}

// BytesValue returns a Bytes value that keeps b.
func BytesValue(b []byte) Value { return Value{Kind: Bytes, Data: b} }

// IsNull reports whether v holds nothing.
func (v Value) IsNull() bool { return v.Kind == Null }
