package amqp_test

import (
	"strings"
	"testing"

	"github.com/redeliver/redeliver/host/emulator/amqp/wire"
)

// Answers that need more frames than the client's window come frame by frame, as the
// client opens it; each goes on where it stopped, beside those of other links.
//
// Source: OASIS AMQP 1.0, 2.5.6: a session's window bounds transfer frames, not deliveries.
func TestAnswersLargerThanTheWindow(t *testing.T) {
	t.Parallel()
	for _, window := range []uint32{1, 2, 7} {
		p := newPeer(t, newMemory(), nil, nil)
		p.write(wire.ProtocolAMQP)
		p.header()
		p.frames(0, &wire.Open{ContainerID: "peer", MaxFrameSize: wire.Some[uint32](512)}, &wire.Begin{IncomingWindow: window, OutgoingWindow: 1000})
		next[*wire.Begin](p)
		p.frames(0, attachSender(0, "echo"))
		next[*wire.Flow](p)
		texts := map[string]string{"one": strings.Repeat("1", 5000), "two": strings.Repeat("2", 3000)}
		for i, name := range []string{"one", "two"} {
			handle := uint32(i + 1)
			attach := attachReceiver(handle, "echo")
			attach.Target.Address = wire.Some(name)
			p.frames(0, attach)
			next[*wire.Attach](p)
		}
		for i, name := range []string{"one", "two"} {
			handle := uint32(i + 1)
			flow := credit(handle, 5)
			flow.IncomingWindow = window
			p.frames(0, flow)
			request := &wire.Message{HasProperties: true, Body: wire.AppendValue(nil, texts[name])}
			request.Properties.ReplyTo = wire.Some(name)
			p.transferInPieces(handle-1, string(request.Append(nil)))
		}
		got := map[string]string{}
		done := 0
		for frames := uint32(0); done < 2; frames++ {
			if frames > 0 && frames%window == 0 {
				p.frames(0, &wire.Flow{NextIncomingID: wire.Some(frames), IncomingWindow: window, OutgoingWindow: 1000})
			}
			f, payload := p.nextTransfer()
			name := map[uint32]string{1: "one", 2: "two"}[f.Handle]
			if f.DeliveryID.Set != (got[name] == "") {
				t.Fatalf("window %d: a transfer for %q, first %t, after %d bytes", window, name, f.DeliveryID.Set, len(got[name]))
			}
			got[name] += string(payload)
			if !f.More {
				done++
			}
		}
		for name, want := range texts {
			answer, err := wire.ParseMessage([]byte(got[name]))
			if err != nil {
				t.Fatalf("window %d: the answer to %q: %v", window, name, err)
			}
			if v, _, err := answer.Value(); err != nil || v != want {
				t.Errorf("window %d: the answer to %q has %T of %d bytes, %v", window, name, v, len(got[name]), err)
			}
		}
	}
}

// transferInPieces sends a delivery of more than one frame on handle 0.
func (p *peer) transferInPieces(id uint32, payload string) {
	p.t.Helper()
	for first := true; len(payload) > 0; first = false {
		f := &wire.Transfer{Settled: wire.Some(true)}
		if first {
			f.DeliveryID = wire.Some(id)
		}
		n := min(len(payload), 400)
		f.More = n < len(payload)
		p.transfer(f, payload[:n])
		payload = payload[n:]
	}
}

// nextTransfer reads a transfer with its payload, and skips other frames.
func (p *peer) nextTransfer() (*wire.Transfer, []byte) {
	p.t.Helper()
	for {
		f, payload, err := p.frame()
		if err != nil {
			p.t.Fatal(err)
		}
		if got, ok := f.(*wire.Transfer); ok {
			return got, payload
		}
	}
}
