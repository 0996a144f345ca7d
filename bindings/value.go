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
}

// HTTPRequest is the request that an HTTP trigger hands to its function. Body
// is complete: it is read once and replayed for every attempt.
type HTTPRequest struct {
	Method string
	URL    string // absolute, with scheme, host and query
	Header http.Header
	Params map[string]string // route parameters, `{id}` of the route
	Body   []byte

	// Caller is the IP address that the request came from; empty without a socket.
	Caller string

	// Stream takes the place of Body for a function that is called once and reads its
	// request as it comes in; nil for all others.
	Stream HTTPStream
}

// HTTPStream is the connection with the caller while the function runs. Read reads the
// body; a body beyond the caller's limit is an error. One goroutine may read while
// another answers.
type HTTPStream interface {
	io.Reader

	// Answer begins the answer, once. Header is kept. What is written reaches the caller
	// at once; an answer that is not closed has broken off, and so has its connection.
	Answer(status int, header http.Header) io.WriteCloser
}

// HTTPResponse is the answer of an HTTP-triggered function. StatusCode 0 means
// 200.
type HTTPResponse struct {
	StatusCode int
	Header     http.Header
	Body       []byte
}

// StringValue returns a String value.
func StringValue(s string) Value { return Value{Kind: String, Text: s} }

// JSONValue returns a JSON value; raw must be one valid JSON document.
func JSONValue(raw json.RawMessage) Value { return Value{Kind: JSON, Text: string(raw)} }

// BytesValue returns a Bytes value that keeps b.
func BytesValue(b []byte) Value { return Value{Kind: Bytes, Data: b} }

// IsNull reports whether v holds nothing.
func (v Value) IsNull() bool { return v.Kind == Null }
