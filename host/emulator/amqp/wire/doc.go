// Package wire is the AMQP 1.0 type system, its frames and its performatives:
// bytes to values and back, with no connection, no state and no rules.
//
// Read value.go for how AMQP types become Go types, then [Decoder] and list.go, on
// which all else is built: a composite type lists its fields once, in its method
// fields, for writing and for reading. Then frame.go and the performatives in the files
// named for them. [Message] is the sections of a message.
//
// Input is not trusted: every length and count is checked against the bytes,
// nesting is limited to [MaxDepth], arrays of elements without bytes to
// [MaxEmptyElements], and undecodable input is an error that wraps
// [ErrMalformed]. Any encoding of a value that the standard allows is taken;
// what goes out has the smallest.
//
// Reference: OASIS AMQP 1.0, parts 1 (types), 2 (transport), 3 (messaging), 5 (SASL), and
// of part 4 (transactions) what a coordinator hears and the states of a delivery.
//
// Decoders of bytes and of messages keep slices of their input; who reuses a
// buffer copies first.
package wire
