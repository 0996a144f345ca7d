package amqp_test

import (
	"io"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/redeliver/redeliver/host/emulator/amqp"
	"github.com/redeliver/redeliver/host/emulator/amqp/wire"
)

// TestBadFrames: what ends the connection, a session or a link, and with which
// condition. The entity is unharmed each time.
func TestBadFrames(t *testing.T) {
	t.Parallel()
	frame := func(channel uint16, p wire.Performative) string {
		return string(wire.AppendFrame(nil, wire.FrameAMQP, channel, p))
	}
	for name, tt := range map[string]struct {
		in    string
		close wire.Symbol // of the connection
		end   wire.Symbol // of the session
	}{
		"frame too small":                      {in: "\x00\x00\x00\x07\x02\x00\x00\x00", close: wire.CondFramingError},
		"frame too large":                      {in: "\x00\x04\x00\x01\x02\x00\x00\x00", close: wire.CondFramingError},
		"data offset too small":                {in: "\x00\x00\x00\x08\x01\x00\x00\x00", close: wire.CondFramingError},
		"data offset beyond":                   {in: "\x00\x00\x00\x08\x05\x00\x00\x00", close: wire.CondFramingError},
		"SASL frame":                           {in: "\x00\x00\x00\x08\x02\x01\x00\x00", close: wire.CondFramingError},
		"body that is no type":                 {in: "\x00\x00\x00\x09\x02\x00\x00\x00\xff", close: wire.CondDecodeError},
		"cut performative":                     {in: "\x00\x00\x00\x0c\x02\x00\x00\x00\x00\x53\x14\xc0", close: wire.CondDecodeError},
		"unknown performative":                 {in: "\x00\x00\x00\x0c\x02\x00\x00\x00\x00\x53\x19\x45", close: wire.CondNotImplemented},
		"second open":                          {in: frame(0, &wire.Open{ContainerID: "c"}), close: wire.CondIllegalState},
		"channel without session":              {in: frame(9, credit(0, 1)), close: wire.CondFramingError},
		"session twice":                        {in: frame(0, begin()), close: wire.CondFramingError},
		"channel beyond the max":               {in: frame(5000, begin()), close: wire.CondFramingError},
		"handle beyond the max":                {in: frame(0, attachSender(1<<16, "q")), close: wire.CondFramingError},
		"payload after a flow":                 {in: "\x00\x00\x00\x0d\x02\x00\x00\x00\x00\x53\x17\x45\x40", close: wire.CondDecodeError},
		"flow without link":                    {in: frame(0, credit(7, 1)), end: wire.CondUnattachedHandle},
		"transfer without link":                {in: frame(0, &wire.Transfer{Handle: 7}), end: wire.CondUnattachedHandle},
		"detach without link":                  {in: frame(0, &wire.Detach{Handle: 7}), end: wire.CondUnattachedHandle},
		"handle in use":                        {in: frame(0, attachSender(1, "q")) + frame(0, attachSender(1, "q")), end: wire.CondHandleInUse},
		"attach with a source of another type": {in: "\x00\x00\x00\x19\x02\x00\x00\x00\x00\x53\x12\xc0\x0c\x06\xa1\x01n\x43\x42\x40\x40\x00\x53\x29\x45", close: wire.CondDecodeError},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMemory()
			m.put("q", []byte("kept"))
			p := newPeer(t, m, nil, nil)
			p.open()
			go io.WriteString(p.nc, tt.in)
			if tt.close != "" {
				got := next[*wire.Close](p)
				if got.Error == nil || got.Error.Condition != tt.close {
					t.Errorf("close with %v, want %s", got.Error, tt.close)
				}
				p.nc.Close()
				p.done()
			} else {
				got := next[*wire.End](p)
				if got.Error == nil || got.Error.Condition != tt.end {
					t.Errorf("end with %v, want %s", got.Error, tt.end)
				}
				p.frames(0, &wire.End{}, &wire.Detach{Handle: 7}) // some detach too late
				p.frames(0, begin())                              // the channel is free again
				next[*wire.Begin](p)
			}
			if n := m.length("q"); n != 1 {
				t.Errorf("%d messages in the queue, want 1", n)
			}
		})
	}
	t.Run("before open", func(t *testing.T) {
		t.Parallel()
		p := newPeer(t, newMemory(), nil, nil)
		p.write(wire.ProtocolAMQP)
		p.header()
		p.frames(0, begin())
		if got := next[*wire.Close](p); got.Error == nil || got.Error.Condition != wire.CondIllegalState {
			t.Errorf("close with %v", got.Error)
		}
	})
}

// TestCoordinator: a backend may have no transactions.
func TestCoordinator(t *testing.T) {
	t.Parallel()
	p := newPeer(t, newMemory(), nil, nil)
	p.open()
	p.frames(0, &wire.Attach{Name: "tx", Role: wire.Sender, Source: &wire.Source{}, Coordinator: true})
	if a := next[*wire.Attach](p); a.Target != nil || a.Source != nil {
		t.Errorf("attach = %+v, want no terminus", a)
	}
	if d := next[*wire.Detach](p); !d.Closed || d.Error == nil || d.Error.Condition != wire.CondNotImplemented {
		t.Errorf("detach = %+v, %v", d, d.Error)
	}
}

// TestTooLarge: a message over the limit is rejected once all of it has come; the
// link goes on.
func TestTooLarge(t *testing.T) {
	t.Parallel()
	m := newMemory()
	p := newPeer(t, m, nil, nil)
	p.open()
	p.frames(0, attachSender(0, "q"))
	next[*wire.Attach](p)
	next[*wire.Flow](p)
	half := strings.Repeat("x", 128<<10)
	go func() {
		p.transfer(&wire.Transfer{DeliveryID: wire.Some[uint32](0), More: true}, half)
		p.transfer(&wire.Transfer{More: true}, half)
		p.transfer(&wire.Transfer{More: true}, "x")
		p.transfer(&wire.Transfer{}, half)
		p.transfer(&wire.Transfer{DeliveryID: wire.Some[uint32](1)}, "\x00\x53\x75\xa0\x01x")
	}()
	got := next[*wire.Disposition](p)
	if got.First != 0 || got.State == nil || got.State.Kind != wire.StateRejected || got.State.Error == nil || got.State.Error.Condition != wire.CondMessageSizeExceeded || !got.Settled {
		t.Errorf("disposition = %+v, want rejected with %s", got, wire.CondMessageSizeExceeded)
	}
	if got := next[*wire.Disposition](p); got.First != 1 || got.State == nil || got.State.Kind != wire.StateAccepted {
		t.Errorf("disposition of the next message = %+v, want accepted", got)
	}
	if n := m.length("q"); n != 1 {
		t.Errorf("%d messages in the queue, want 1", n)
	}
}

// TestBadTransfers: what ends a link.
func TestBadTransfers(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		send func(p *peer)
		want wire.Symbol
	}{
		"more than the credit": {func(p *peer) {
			var b []byte
			for i := range uint32(1001) {
				b = wire.AppendFrame(b, wire.FrameAMQP, 0, &wire.Transfer{Handle: 0, DeliveryID: wire.Some(i), More: true})
				b = wire.AppendFrame(b, wire.FrameAMQP, 0, &wire.Transfer{Handle: 0, Aborted: true})
			}
			p.write(string(b))
		}, wire.CondTransferLimitExceeded},
		"no delivery id": {func(p *peer) { p.transfer(&wire.Transfer{}, "x") }, wire.CondInvalidField},
		"interleaved messages": {func(p *peer) {
			p.transfer(&wire.Transfer{DeliveryID: wire.Some[uint32](0), More: true}, "x")
			p.transfer(&wire.Transfer{DeliveryID: wire.Some[uint32](1)}, "x")
		}, wire.CondInvalidField},
		"one byte too much, settled": {func(p *peer) {
			half := strings.Repeat("x", 128<<10)
			p.transfer(&wire.Transfer{DeliveryID: wire.Some[uint32](0), More: true, Settled: wire.Some(true)}, half)
			p.transfer(&wire.Transfer{More: true}, half)
			p.transfer(&wire.Transfer{}, "x")
		}, wire.CondMessageSizeExceeded},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMemory()
			p := newPeer(t, m, nil, nil)
			p.open()
			p.frames(0, attachSender(0, "q"))
			answer := next[*wire.Attach](p)
			if answer.Role != wire.Receiver || answer.MaxMessageSize.V != 256<<10 || answer.Target == nil {
				t.Errorf("attach = %+v", answer)
			}
			if f := next[*wire.Flow](p); f.LinkCredit.V != 1000 {
				t.Errorf("credit %d", f.LinkCredit.V)
			}
			go tt.send(p)
			got := next[*wire.Detach](p)
			if !got.Closed || got.Error == nil || got.Error.Condition != tt.want {
				t.Errorf("detach %+v with %v, want %s", got, got.Error, tt.want)
			}
			p.frames(0, &wire.Detach{Closed: true}, attachSender(0, "q")) // the handle is free again
			next[*wire.Attach](p)
			if n := m.length("q"); n != 0 {
				t.Errorf("%d messages in the queue", n)
			}
		})
	}
	t.Run("to a client that receives", func(t *testing.T) {
		t.Parallel()
		p := newPeer(t, newMemory(), nil, nil)
		p.open()
		p.frames(0, attachReceiver(0, "q"))
		next[*wire.Attach](p)
		go p.transfer(&wire.Transfer{DeliveryID: wire.Some[uint32](0)}, "x")
		if got := next[*wire.Detach](p); got.Error == nil || got.Error.Condition != wire.CondNotAllowed {
			t.Errorf("transfer to a receiver: detach with %v", got.Error)
		}
	})
}

// A client that receives is told no limit: Microsoft.Azure.Amqp holds the peer to the size
// that the peer's attach says (AMQP 1.0, 2.7.3: the largest message that the sender of the
// attach takes), ends the link at a larger message, and the app hears nothing of it.
func TestReceiversAreToldNoLimit(t *testing.T) {
	t.Parallel()
	p := newPeer(t, newMemory(), nil, nil)
	p.open()
	for i, tt := range []struct {
		attach func(handle uint32, address string) *wire.Attach
		to     string
		limit  bool
	}{
		{attachReceiver, "q", false},
		{attachReceiver, "echo", false},
		{attachSender, "q", true},
		{attachSender, "echo", true},
	} {
		p.frames(0, tt.attach(uint32(i), tt.to))
		if got := next[*wire.Attach](p); got.MaxMessageSize.Set != tt.limit {
			t.Errorf("the attach of a %v of %q has the limit %+v, want one: %t", got.Role, tt.to, got.MaxMessageSize, tt.limit)
		}
	}
}

// FuzzConnection: nothing that a client writes brings the server down or leaves
// something behind.
func FuzzConnection(f *testing.F) {
	seed := ""
	for _, p := range []wire.Performative{&wire.Open{ContainerID: "c"}, begin(), attachReceiver(0, "q"), credit(0, 5), attachSender(1, "q"), &wire.Transfer{Handle: 1, DeliveryID: wire.Some[uint32](0)},
		&wire.Disposition{Role: wire.Receiver, First: 0, State: &wire.State{Kind: wire.StateAccepted}}, attachSender(2, "echo"), attachReceiver(3, "echo"), &wire.Detach{Handle: 1}, &wire.End{}, &wire.Close{}} {
		seed += string(wire.AppendFrame(nil, wire.FrameAMQP, 0, p))
	}
	f.Add([]byte(seed))
	f.Fuzz(func(t *testing.T, b []byte) {
		m := newMemory()
		m.put("q", []byte("x"))
		near, far := net.Pipe()
		server := amqp.NewServer(m, nil)
		var serving sync.WaitGroup
		serving.Go(func() { server.ServeConn(far) })
		serving.Go(func() { io.Copy(io.Discard, near) })
		io.WriteString(near, wire.ProtocolAMQP)
		near.Write(b)
		near.Close()
		serving.Wait()
	})
}
