// Package shim holds the workers that this program brings along: one small program for
// each language, run by the user's own interpreter, with the app's own libraries. Where
// the platform's own worker is found it can be run instead (spec workers 3.4).
//
// # The transport
//
// A shim speaks the messages of the platform's protocol (package workerpb) as lines
// over TCP, so that it needs neither gRPC nor protobuf in the user's environment (spec
// workers 10.3). It gets both groups of arguments that official workers get (spec
// workers 3.1), connects to --host and --port, and sends StartStream with its worker ID.
// From then on each side writes one message a line: a StreamingMessage as proto-JSON in
// UTF-8, without line breaks, ended by "\n". Names are in lower camel case; the
// member of the oneof stands beside requestId; bytes are Base64; a Duration is text such
// as "1.5s"; 64-bit numbers may be text; an enum value is its name, in the host's
// messages always, in a shim's its name or its number. The host writes members that
// hold a zero, 0, "" and false, save in an invocation, whose members are zero when they
// are not there. It leaves out messages that are absent: a retryContext that is there means
// that a retry policy applies. A line has at most the bytes that --grpcMaxMessageLength
// names.
//
// A shim ends when the connection does, so that it never outlives its host.
//
// # What a shim does
//
// It answers WorkerInitRequest (capabilities, worker metadata), FunctionsMetadataRequest
// (the functions that the app declares in code, or use_default_metadata_indexing),
// FunctionLoadRequest, InvocationRequest, WorkerStatusRequest and WorkerTerminate. It
// answers each load and each invocation exactly once, whatever happens: an answer that
// cannot travel, or a call that the language cannot hold, is a failure of that call. What the app writes to standard
// output stays there; what it logs for an invocation travels as RpcLog of category User
// with the invocation's ID, before the answer.
package shim
