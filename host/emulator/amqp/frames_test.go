package amqp_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/host/emulator/amqp"
	"github.com/redeliver/redeliver/host/emulator/amqp/wire"
)

// peer is a client that writes frames as it likes.
type peer struct {
	t    *testing.T
	nc   net.Conn
	done func() // waits for the server to be done with the connection
}

// newPeer connects to a server through a fake connection, whose server end goes
// through wrap.
func newPeer(t *testing.T, m *memory, opts *amqp.Options, wrap func(net.Conn) net.Conn) *peer {
	t.Helper()
	near, far := net.Pipe()
	if wrap != nil {
		far = wrap(far)
	}
	server := amqp.NewServer(m, opts)
	var serving sync.WaitGroup
	serving.Go(func() { server.ServeConn(far) })
	p := &peer{t: t, nc: near, done: serving.Wait}
	near.SetDeadline(time.Now().Add(30 * time.Second))
	t.Cleanup(func() {
		near.Close()
		serving.Wait()
		server.Close()
	})
	return p
}

func (p *peer) write(s string) {
	p.t.Helper()
	if _, err := io.WriteString(p.nc, s); err != nil {
		p.t.Error(err)
	}
}

// frames writes performatives on a channel, in one piece.
func (p *peer) frames(channel uint16, list ...wire.Performative) {
	p.t.Helper()
	var b []byte
	for _, f := range list {
		b = wire.AppendFrame(b, wire.FrameAMQP, channel, f)
	}
	p.write(string(b))
}

// transfer writes a transfer with its payload.
func (p *peer) transfer(f *wire.Transfer, payload string) {
	p.t.Helper()
	b := f.Append(wire.BeginFrame(nil, wire.FrameAMQP, 0))
	p.write(string(wire.EndFrame(append(b, payload...), 0)))
}

func (p *peer) header() string {
	p.t.Helper()
	b := make([]byte, wire.HeaderSize)
	if _, err := io.ReadFull(p.nc, b); err != nil {
		p.t.Fatal(err)
	}
	return string(b)
}

// frame reads a frame that is no heartbeat.
func (p *peer) frame() (wire.Performative, []byte, error) {
	for {
		size := make([]byte, 4)
		if _, err := io.ReadFull(p.nc, size); err != nil {
			return nil, nil, err
		}
		b := append(size, make([]byte, binary.BigEndian.Uint32(size)-4)...)
		if _, err := io.ReadFull(p.nc, b[4:]); err != nil {
			return nil, nil, err
		}
		f, err := wire.ParseFrame(b)
		if err != nil {
			return nil, nil, err
		}
		if len(f.Body) == 0 {
			continue
		}
		if f.Type == wire.FrameSASL {
			sasl, err := wire.ParseSASL(f.Body)
			return sasl, nil, err
		}
		return wire.ParseBody(f.Body)
	}
}

// next reads a frame of a type, and skips others.
func next[T wire.Performative](p *peer) T {
	p.t.Helper()
	for {
		f, _, err := p.frame()
		if err != nil {
			p.t.Fatalf("waiting for a %T: %v", *new(T), err)
		}
		if want, ok := f.(T); ok {
			return want
		}
	}
}

// open goes as far as a session on channel 0.
func (p *peer) open() {
	p.t.Helper()
	p.write(wire.ProtocolAMQP)
	if got := p.header(); got != wire.ProtocolAMQP {
		p.t.Fatalf("header %q", got)
	}
	p.frames(0, &wire.Open{ContainerID: "peer"})
	next[*wire.Open](p)
	p.frames(0, begin())
	next[*wire.Begin](p)
}

func begin() *wire.Begin { return &wire.Begin{IncomingWindow: 1000, OutgoingWindow: 1000} }

func attachSender(handle uint32, address string) *wire.Attach {
	return &wire.Attach{Name: fmt.Sprint("s", handle), Handle: handle, Role: wire.Sender, Source: &wire.Source{}, Target: &wire.Target{Address: wire.Some(address)}}
}

func attachReceiver(handle uint32, address string) *wire.Attach {
	return &wire.Attach{Name: fmt.Sprint("r", handle), Handle: handle, Role: wire.Receiver, ReceiveMode: wire.Some(wire.ReceiveSecond), Source: &wire.Source{Address: wire.Some(address)}, Target: &wire.Target{}}
}

func credit(handle, n uint32) *wire.Flow {
	return &wire.Flow{NextIncomingID: wire.Some[uint32](0), IncomingWindow: 1000, OutgoingWindow: 1000, Handle: wire.Some(handle), DeliveryCount: wire.Some[uint32](0), LinkCredit: wire.Some(n)}
}

// TestHandleTakenAgain: a client may attach its next link to the handle of one
// that the server ended, before it answers the server's detach (go-amqp: Session,
// which frees the handle when the detach arrives).
func TestHandleTakenAgain(t *testing.T) {
	t.Parallel()
	p := newPeer(t, newMemory(), nil, nil)
	p.open()
	p.frames(0, attachSender(0, "missing"))
	if got := next[*wire.Detach](p); got.Error == nil || got.Error.Condition != wire.CondNotFound {
		t.Fatalf("the first link: %+v", got)
	}
	p.frames(0, attachSender(0, "q"), &wire.Detach{Handle: 0, Closed: true})
	next[*wire.Attach](p)
	p.transfer(&wire.Transfer{Handle: 0, DeliveryID: wire.Some[uint32](0), Tag: []byte("a")}, string(goMessage(t, "a")))
	if got := next[*wire.Disposition](p); got.State == nil {
		t.Fatalf("the message on the second link: %+v", got)
	}
	p.frames(0, attachSender(0, "q"))
	if got := next[*wire.End](p); got.Error == nil || got.Error.Condition != wire.CondHandleInUse {
		t.Fatalf("a handle whose link lives: %+v", got)
	}
}

// TestHandshake: headers, mechanisms and outcomes.
func TestHandshake(t *testing.T) {
	t.Parallel()
	sasl := func(mechanism wire.Symbol, response string) string {
		return string(wire.AppendFrame(nil, wire.FrameSASL, 0, &wire.SASLInit{Mechanism: mechanism, InitialResponse: []byte(response)}))
	}
	open := string(wire.AppendFrame(nil, wire.FrameAMQP, 0, &wire.Open{ContainerID: "c"}))
	t.Run("all at once", func(t *testing.T) {
		t.Parallel()
		p := newPeer(t, newMemory(), nil, nil)
		go io.WriteString(p.nc, wire.ProtocolSASL+sasl("MSSBCBS", "")+wire.ProtocolAMQP+open)
		if got := p.header(); got != wire.ProtocolSASL {
			t.Fatalf("header %q", got)
		}
		offer := next[*wire.SASLMechanisms](p)
		if diff := cmp.Diff([]wire.Symbol{"MSSBCBS", "PLAIN", "ANONYMOUS", "EXTERNAL"}, offer.Mechanisms); diff != "" {
			t.Errorf("mechanisms (-want +got):\n%s", diff)
		}
		if got := next[*wire.SASLOutcome](p); got.Code != wire.SASLOK {
			t.Errorf("outcome %d", got.Code)
		}
		if got := p.header(); got != wire.ProtocolAMQP {
			t.Fatalf("header %q", got)
		}
		got := next[*wire.Open](p)
		if got.MaxFrameSize.V < 65536 || got.ChannelMax.V < 4999 || got.IdleTimeout.V != 120000 || got.ContainerID == "" {
			t.Errorf("open = %+v", got)
		}
	})
	for name, tt := range map[string]struct {
		init string
		code uint8
	}{
		"PLAIN":                  {sasl("PLAIN", "\x00user\x00password"), wire.SASLOK},
		"PLAIN that is not":      {sasl("PLAIN", "user"), wire.SASLAuth},
		"unknown mechanism":      {sasl("SCRAM-SHA-256", "x"), wire.SASLAuth},
		"EXTERNAL":               {sasl("EXTERNAL", ""), wire.SASLOK},
		"ANONYMOUS with a trace": {sasl("ANONYMOUS", "trace"), wire.SASLOK},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPeer(t, newMemory(), nil, nil)
			p.write(wire.ProtocolSASL)
			p.header()
			next[*wire.SASLMechanisms](p)
			p.write(tt.init)
			if got := next[*wire.SASLOutcome](p); got.Code != tt.code {
				t.Errorf("outcome %d, want %d", got.Code, tt.code)
			}
			if tt.code != wire.SASLOK {
				if _, _, err := p.frame(); !errors.Is(err, io.EOF) {
					t.Errorf("after the outcome: %v, want the end", err)
				}
			}
		})
	}
	for name, tt := range map[string]struct{ in, want string }{
		"AMQP 0-9-1":     {"AMQP\x00\x00\x09\x01", wire.ProtocolSASL},
		"TLS by header":  {"AMQP\x02\x01\x00\x00", wire.ProtocolSASL},
		"something else": {"HELO you", wire.ProtocolSASL},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPeer(t, newMemory(), nil, nil)
			p.write(tt.in)
			if got := p.header(); got != tt.want {
				t.Errorf("header %q, want %q", got, tt.want)
			}
			if _, _, err := p.frame(); !errors.Is(err, io.EOF) {
				t.Errorf("after the header: %v, want the end", err)
			}
		})
	}
}

// TestFragments: a message in several transfers, another one aborted, and ranges in
// the answer.
func TestFragments(t *testing.T) {
	t.Parallel()
	m := newMemory()
	p := newPeer(t, m, nil, nil)
	p.open()
	p.frames(0, attachSender(0, "q"))
	next[*wire.Flow](p)
	var b []byte
	add := func(f *wire.Transfer, payload string) {
		start := len(b)
		b = wire.EndFrame(append(f.Append(wire.BeginFrame(b, wire.FrameAMQP, 0)), payload...), start)
	}
	add(&wire.Transfer{DeliveryID: wire.Some[uint32](0), More: true}, "a")
	add(&wire.Transfer{DeliveryID: wire.Some[uint32](0), More: true}, "b")
	add(&wire.Transfer{}, "c")
	add(&wire.Transfer{DeliveryID: wire.Some[uint32](1), More: true}, "lost")
	add(&wire.Transfer{Aborted: true, More: true}, "")
	add(&wire.Transfer{DeliveryID: wire.Some[uint32](2)}, "d")
	add(&wire.Transfer{DeliveryID: wire.Some[uint32](3)}, "e")
	add(&wire.Transfer{DeliveryID: wire.Some[uint32](4), Settled: wire.Some(true)}, "f")
	go p.nc.Write(b)
	var got []string
	for _, want := range []*wire.Disposition{
		{Role: wire.Receiver, First: 0, Settled: true, State: &wire.State{Kind: wire.StateAccepted}},
		{Role: wire.Receiver, First: 2, Last: wire.Some[uint32](3), Settled: true, State: &wire.State{Kind: wire.StateAccepted}},
	} {
		if diff := cmp.Diff(want, next[*wire.Disposition](p)); diff != "" {
			t.Errorf("disposition (-want +got):\n%s", diff)
		}
	}
	m.mu.Lock()
	for _, s := range m.queues["q"] {
		got = append(got, string(s.payload))
	}
	m.mu.Unlock()
	if diff := cmp.Diff([]string{"abc", "d", "e", "f"}, got); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
}

// TestSettlementFrames: the handshake of the second mode, ranges, the same delivery twice, and
// forgetting.
func TestSettlementFrames(t *testing.T) {
	t.Parallel()
	m := newMemory()
	for range 6 {
		m.put("q", []byte("x"))
	}
	p := newPeer(t, m, nil, nil)
	p.open()
	p.frames(0, attachReceiver(0, "q"))
	next[*wire.Attach](p)
	p.frames(0, credit(0, 6))
	for i := range uint32(6) {
		f := next[*wire.Transfer](p)
		if f.DeliveryID.V != i || f.Settled.V || len(f.Tag) != 8 {
			t.Errorf("transfer %+v", f)
		}
	}
	accepted := &wire.State{Kind: wire.StateAccepted}
	lost := &wire.State{Kind: wire.StateRejected, Error: &wire.Error{Condition: "com.microsoft:message-lock-lost", Description: "delivery 1 was settled before"}}
	for _, step := range []struct{ send, want *wire.Disposition }{
		{&wire.Disposition{Role: wire.Receiver, First: 0, Last: wire.Some[uint32](2), State: accepted},
			&wire.Disposition{First: 0, Last: wire.Some[uint32](2), Settled: true, State: accepted}},
		{&wire.Disposition{Role: wire.Receiver, First: 1, State: accepted}, &wire.Disposition{First: 1, Settled: true, State: lost}},
		{&wire.Disposition{Role: wire.Receiver, First: 3, State: &wire.State{Kind: wire.StateReleased}}, &wire.Disposition{First: 3, Settled: true, State: &wire.State{Kind: wire.StateReleased}}},
		{&wire.Disposition{Role: wire.Receiver, First: 4, Last: wire.Some[uint32](1 << 31), State: &wire.State{Kind: wire.StateModified}}, &wire.Disposition{First: 4, Last: wire.Some[uint32](5), Settled: true, State: &wire.State{Kind: wire.StateModified}}},
	} {
		p.frames(0, step.send)
		if diff := cmp.Diff(step.want, next[*wire.Disposition](p)); diff != "" {
			t.Errorf("answer to %+v (-want +got):\n%s", step.send, diff)
		}
	}
	p.frames(0, &wire.Close{})
	next[*wire.Close](p)
	m.mu.Lock()
	defer m.mu.Unlock()
	want := []string{"accepted 1", "accepted 2", "accepted 3", "released 4", "modified 5", "modified 6", "source q closed vanished=false"}
	if diff := cmp.Diff(want, m.log); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
}

// TestSettledAfterDetach: what a client says of a delivery after it has detached the link
// settles nothing. It does not wait for the answer, and settles by token (spec messaging
// 1.2; azure-servicebus for Python: settle_through_mgmt_link_due_to_broken_receiver_link).
func TestSettledAfterDetach(t *testing.T) {
	t.Parallel()
	m := newMemory()
	m.put("q", []byte("x"))
	p := newPeer(t, m, nil, nil)
	p.open()
	p.frames(0, attachReceiver(0, "q"))
	next[*wire.Attach](p)
	p.frames(0, credit(0, 1))
	next[*wire.Transfer](p)
	p.frames(0, &wire.Detach{Handle: 0}, &wire.Disposition{Role: wire.Receiver, First: 0, State: &wire.State{Kind: wire.StateAccepted}})
	p.frames(0, &wire.Close{})
	for {
		if f, _, err := p.frame(); err != nil {
			t.Fatal(err)
		} else if _, ok := f.(*wire.Close); ok {
			break
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if diff := cmp.Diff([]string{"source q closed vanished=false"}, m.log); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
}

// TestEchoedOutcomes: a settlement is confirmed with the outcome that was asked for, without
// its error and its annotations (spec messaging 3.6); settlements that arrive together are
// confirmed in order.
func TestEchoedOutcomes(t *testing.T) {
	t.Parallel()
	m := newMemory()
	p := newPeer(t, m, nil, nil)
	p.open()
	p.frames(0, attachReceiver(0, "q"))
	next[*wire.Attach](p)
	states := []struct{ asked, want *wire.State }{
		{&wire.State{Kind: wire.StateAccepted}, &wire.State{Kind: wire.StateAccepted}},
		{&wire.State{Kind: wire.StateRejected, Error: &wire.Error{Condition: "com.microsoft:dead-letter", Info: wire.Map{{Key: wire.Symbol("DeadLetterReason"), Value: "why"}}}}, &wire.State{Kind: wire.StateRejected}},
		{&wire.State{Kind: wire.StateReleased}, &wire.State{Kind: wire.StateReleased}},
		{&wire.State{Kind: wire.StateModified, Annotations: wire.Map{{Key: wire.Symbol("k"), Value: "v"}}}, &wire.State{Kind: wire.StateModified}},
		{&wire.State{Kind: wire.StateModified, UndeliverableHere: true}, &wire.State{Kind: wire.StateModified, UndeliverableHere: true}},
		{&wire.State{Kind: wire.StateModified, DeliveryFailed: true}, &wire.State{Kind: wire.StateModified, DeliveryFailed: true}},
	}
	var asked []wire.Performative
	for i, s := range states {
		m.put("q", []byte("x"))
		asked = append(asked, &wire.Disposition{Role: wire.Receiver, First: uint32(i), State: s.asked})
	}
	p.frames(0, credit(0, uint32(len(states))))
	for range states {
		next[*wire.Transfer](p)
	}
	p.frames(0, asked...)
	for i, s := range states {
		want := &wire.Disposition{First: uint32(i), Settled: true, State: s.want}
		if diff := cmp.Diff(want, next[*wire.Disposition](p)); diff != "" {
			t.Errorf("answer to %+v (-want +got):\n%s", s.asked, diff)
		}
	}
}

// TestFlows: echo, drain, credit that is taken back, and a session window that shuts.
func TestFlows(t *testing.T) {
	t.Parallel()
	m := newMemory()
	p := newPeer(t, m, nil, nil)
	p.open()
	p.frames(0, &wire.Flow{NextIncomingID: wire.Some[uint32](0), IncomingWindow: 2, Echo: true})
	if f := next[*wire.Flow](p); f.Handle.Set || f.IncomingWindow == 0 {
		t.Errorf("echo of a session's flow: %+v", f)
	}
	p.frames(0, attachReceiver(0, "q"))
	next[*wire.Attach](p)
	drain := credit(0, 10)
	drain.Drain, drain.IncomingWindow = true, 2
	p.frames(0, drain)
	f := next[*wire.Flow](p)
	if !f.Drain || f.LinkCredit.V != 0 || f.DeliveryCount.V != 10 {
		t.Errorf("drain of an empty queue: %+v", f)
	}
	for i := range 5 {
		m.put("q", fmt.Append(nil, i))
	}
	again := credit(0, 5)
	again.DeliveryCount, again.IncomingWindow = wire.Some[uint32](10), 2
	p.frames(0, again)
	next[*wire.Transfer](p)
	next[*wire.Transfer](p)
	echo := &wire.Flow{NextIncomingID: wire.Some[uint32](2), IncomingWindow: 0, Echo: true}
	p.frames(0, echo)
	if got, _, err := p.frame(); err != nil {
		t.Fatal(err)
	} else if _, ok := got.(*wire.Flow); !ok {
		t.Errorf("%T while the window is shut", got)
	}
	echo.IncomingWindow, echo.Echo = 1, false
	p.frames(0, echo)
	next[*wire.Transfer](p)
	back := credit(0, 0) // the client takes back what is left
	back.NextIncomingID, back.DeliveryCount = wire.Some[uint32](3), wire.Some[uint32](13)
	p.frames(0, back)
	m.wait("returned 2")
	if n := m.length("q"); n != 2 {
		t.Errorf("%d messages left, want 2", n)
	}
}

// TestFakeConnections: the same exchange through connections that deliver byte by
// byte, or break in the middle.
func TestFakeConnections(t *testing.T) {
	t.Parallel()
	for name, wrap := range map[string]func(net.Conn) net.Conn{
		"byte by byte": func(nc net.Conn) net.Conn { return &chunked{Conn: nc, size: 1} },
		"seven bytes":  func(nc net.Conn) net.Conn { return &chunked{Conn: nc, size: 7} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMemory()
			p := newPeer(t, m, nil, wrap)
			p.open()
			p.frames(0, attachSender(0, "q"))
			next[*wire.Flow](p)
			go p.transfer(&wire.Transfer{DeliveryID: wire.Some[uint32](0)}, strings.Repeat("x", 3000))
			next[*wire.Disposition](p)
			p.frames(0, attachReceiver(1, "q"))
			next[*wire.Attach](p)
			p.frames(0, credit(1, 1))
			next[*wire.Transfer](p)
			p.frames(0, &wire.Detach{Handle: 1, Closed: true})
			if d := next[*wire.Detach](p); !d.Closed || d.Error != nil {
				t.Errorf("detach = %+v", d)
			}
			p.frames(0, &wire.End{})
			next[*wire.End](p)
			p.frames(0, &wire.Close{})
			next[*wire.Close](p)
		})
	}
	// However early it breaks, nothing stays behind.
	whole := wire.ProtocolAMQP
	for _, f := range []wire.Performative{&wire.Open{ContainerID: "c"}, begin(), attachReceiver(0, "slow"), attachReceiver(1, "q"), credit(1, 5), attachSender(2, "q"), &wire.Transfer{Handle: 2, DeliveryID: wire.Some[uint32](0)}} {
		whole += string(wire.AppendFrame(nil, wire.FrameAMQP, 0, f))
	}
	t.Run("cut", func(t *testing.T) {
		t.Parallel()
		for n := range whole {
			m := newMemory()
			near, far := net.Pipe()
			server := amqp.NewServer(m, nil)
			var serving sync.WaitGroup
			serving.Go(func() { server.ServeConn(far) })
			serving.Go(func() { io.Copy(io.Discard, near) })
			if _, err := io.WriteString(near, whole[:n]); err != nil {
				t.Fatal(err)
			}
			near.Close()
			serving.Wait()
		}
	})
	t.Run("write fails", func(t *testing.T) {
		t.Parallel()
		m := newMemory()
		p := newPeer(t, m, nil, func(nc net.Conn) net.Conn { return &failing{nc, 4} })
		p.open()
		p.frames(0, attachReceiver(0, "q"))
		next[*wire.Attach](p)
		m.put("q", []byte("x"))
		p.frames(0, credit(0, 1))
		p.done()
		if got := m.wait("source q"); got != "source q closed vanished=true" {
			t.Errorf("log: %s", got)
		}
	})
}

// chunked delivers at most size bytes per read.
type chunked struct {
	net.Conn
	size int
}

func (c *chunked) Read(p []byte) (int, error) { return c.Conn.Read(p[:min(c.size, len(p))]) }

// failing fails after some writes.
type failing struct {
	net.Conn
	left int
}

func (c *failing) Write(p []byte) (int, error) {
	if c.left--; c.left < 0 {
		return 0, errors.New("the wire is cut")
	}
	return c.Conn.Write(p)
}

// idle is a connection whose reads meet their deadline at once when told to.
type idle struct {
	net.Conn
	over chan struct{}
}

func (c *idle) SetReadDeadline(at time.Time) error {
	select {
	case <-c.over:
		return c.Conn.SetReadDeadline(time.Unix(1, 0))
	default:
		return nil
	}
}

// TestIdleTimeouts: we send heartbeats to a client that asks for them, and disconnect one
// that is silent.
func TestIdleTimeouts(t *testing.T) {
	t.Parallel()
	t.Run("ours", func(t *testing.T) {
		t.Parallel()
		over := make(chan struct{})
		var conn *idle
		p := newPeer(t, newMemory(), &amqp.Options{IdleTimeout: time.Nanosecond}, func(nc net.Conn) net.Conn {
			conn = &idle{nc, over}
			return conn
		})
		p.open()
		close(over)
		conn.SetReadDeadline(time.Time{})
		if got := next[*wire.Close](p); got.Error == nil || got.Error.Condition != wire.CondResourceLimitExceeded {
			t.Errorf("close with %v", got.Error)
		}
	})
	t.Run("theirs", func(t *testing.T) {
		t.Parallel()
		p := newPeer(t, newMemory(), nil, nil)
		p.write(wire.ProtocolAMQP)
		p.header()
		p.frames(0, &wire.Open{ContainerID: "c", IdleTimeout: wire.Some[uint32](10)})
		next[*wire.Open](p)
		b := make([]byte, 16)
		if _, err := io.ReadFull(p.nc, b); err != nil {
			t.Fatal(err)
		}
		const beat = "\x00\x00\x00\x08\x02\x00\x00\x00"
		if string(b) != beat+beat {
			t.Errorf("heartbeats: %x", b)
		}
		p.write(beat + beat)
		p.frames(0, &wire.Close{})
		next[*wire.Close](p)
	})
}

// TestHeartbeatInTime: a heartbeat comes within half of the client's idle time-out after
// whatever was written last (spec messaging 3.1), also when that was right after the last
// heartbeat was due.
func TestHeartbeatInTime(t *testing.T) {
	t.Parallel()
	const idle = 3 * time.Second
	p := newPeer(t, newMemory(), nil, nil)
	p.write(wire.ProtocolAMQP)
	p.header()
	p.frames(0, &wire.Open{ContainerID: "c", IdleTimeout: wire.Some[uint32](uint32(idle.Milliseconds()))})
	next[*wire.Open](p)
	p.frames(0, begin())
	next[*wire.Begin](p)
	begun := time.Now()
	var frame [8]byte
	if _, err := io.ReadFull(p.nc, frame[:]); err != nil || string(frame[:]) != "\x00\x00\x00\x08\x02\x00\x00\x00" {
		t.Fatalf("read % x, %v, want a heartbeat", frame, err)
	}
	if took := time.Since(begun); took > idle/2 {
		t.Errorf("the heartbeat came after %v, more than half of %v", took, idle)
	}
}
