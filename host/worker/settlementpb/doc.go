// Package settlementpb holds what a handler in a language worker asks of the host for
// messages of Service Bus, generated from settlement.proto.
package settlementpb
