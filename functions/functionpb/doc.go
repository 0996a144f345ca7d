// Package functionpb is the wire form of what crosses between the host and a
// handler process: handler.proto and the code generated from it.
//
// Read handler.proto. Conversion to and from Go values lives in functions/call;
// the author's side is package functions, the host's side host/plugin. Nothing
// else needs this package.
package functionpb
