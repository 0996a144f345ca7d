// Package workerpb holds the messages between the host and a language worker, generated
// from functionrpc.proto.
package workerpb
