package wire_test

import (
	"testing"

	"github.com/redeliver/redeliver/host/emulator/amqp/wire"
)

// What a message costs on the wire, both ways: its transfer and its disposition, a flow
// now and then, and the message itself.
func BenchmarkPerformatives(b *testing.B) {
	for _, row := range []struct {
		name string
		p    wire.Performative
	}{
		{"transfer", &wire.Transfer{Handle: 3, DeliveryID: wire.Some[uint32](1234), Tag: []byte("0123456789abcdef"), Format: wire.Some[uint32](0), Batchable: true}},
		{"disposition", &wire.Disposition{Role: wire.Receiver, First: 1234, Last: wire.Some[uint32](1240), Settled: true, State: &wire.State{Kind: wire.StateAccepted}}},
		{"flow", &wire.Flow{NextIncomingID: wire.Some[uint32](7), IncomingWindow: 5000, NextOutgoingID: 9, OutgoingWindow: 5000, Handle: wire.Some[uint32](3), DeliveryCount: wire.Some[uint32](7), LinkCredit: wire.Some[uint32](100)}},
		{"attach", &wire.Attach{Name: "orders-1", Role: wire.Receiver, Source: &wire.Source{Address: wire.Some("orders")}, Target: &wire.Target{Address: wire.Some("client")}, InitialDeliveryCount: wire.Some[uint32](0)}},
	} {
		b.Run(row.name+"/append", func(b *testing.B) {
			b.ReportAllocs()
			buf := make([]byte, 0, 512)
			for b.Loop() {
				buf = wire.AppendFrame(buf[:0], wire.FrameAMQP, 0, row.p)
			}
		})
		b.Run(row.name+"/parse", func(b *testing.B) {
			b.ReportAllocs()
			body := row.p.Append(nil)
			for b.Loop() {
				if _, _, err := wire.ParseBody(body); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkMessages(b *testing.B) {
	m := &wire.Message{
		HasHeader: true, Header: wire.Header{Priority: wire.DefaultPriority, DeliveryCount: 1},
		HasProperties: true, Properties: wire.Properties{MessageID: "message-1", ContentType: wire.Some(wire.Symbol("application/json"))},
		ApplicationProperties: wire.Map{{Key: "tenant", Value: "a"}}, Body: wire.AppendData(nil, make([]byte, 1024)),
	}
	b.Run("append", func(b *testing.B) {
		b.ReportAllocs()
		buf := make([]byte, 0, 4096)
		for b.Loop() {
			buf = m.Append(buf[:0])
		}
	})
	b.Run("parse", func(b *testing.B) {
		b.ReportAllocs()
		text := m.Append(nil)
		for b.Loop() {
			if _, err := wire.ParseMessage(text); err != nil {
				b.Fatal(err)
			}
		}
	})
}
