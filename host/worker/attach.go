package worker

import (
	"crypto/rand"
	"errors"
	"net"
	"sync"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/redeliver/redeliver/host/listen"
	"github.com/redeliver/redeliver/host/process"
	"github.com/redeliver/redeliver/host/worker/workerpb"
)

// A Port is where workers connect that no host has started: a test that runs its own
// functions, in its own process. Each is awaited at a [Seat], and says in its StartStream the
// ID of that, which it was told otherwise: whoever has the ID is let in, once, and nobody
// else. The port is of this machine alone (127.0.0.1).
//
// Both transports come to it: lines of JSON (package shim), and gRPC, beside which it serves
// settlement.
//
// Methods may be called concurrently, from outside the clock.
type Port struct {
	lines *linesEndpoint

	mu    sync.Mutex // guards:
	seats map[string]*Seat
}

// OpenPort opens a port that the system chooses.
func OpenPort() (*Port, error) {
	l, err := listen.Port{Service: "attached workers"}.Open()
	if err != nil {
		return nil, err
	}
	p := &Port{seats: map[string]*Seat{}}
	server := newServer(&settlement{running: p.holders})
	workerpb.RegisterFunctionRpcServer(server, &eventStream{claim: p.claim})
	p.lines = newLines(l, p.claim, server)
	p.lines.serve()
	return p, nil
}

// Addr is where workers connect.
func (p *Port) Addr() *net.TCPAddr { return p.lines.addr() }

// Close closes the port and all seats, and waits for the connections.
func (p *Port) Close() {
	p.mu.Lock()
	seats := p.seats
	p.seats = nil
	p.mu.Unlock()
	for _, s := range seats {
		s.Close()
	}
	p.lines.close()
}

// Seat returns a place for one worker, of the host with that name. A closed port has one that
// nobody comes to.
func (p *Port) Seat(host string) *Seat {
	s := &Seat{
		port: p, id: "attach:" + host + ":" + rand.Text(), name: "attach:" + host,
		here: make(chan struct{}), gone: make(chan struct{}), //clock:outside another program dials
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.seats != nil {
		p.seats[s.id] = s
	}
	return s
}

// claim is who gets the stream of a worker. An ID is good for one connection.
func (p *Port) claim(first *message) (func(stream, func()), error) {
	start := first.GetStartStream()
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.seats[start.GetWorkerId()]
	switch {
	case start == nil || s == nil:
		return nil, errUninvited
	case s.taken:
		return nil, errTaken
	}
	s.taken = true
	return s.sit, nil
}

// holders are the calls that run and may settle.
func (p *Port) holders() (list []holder) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.seats {
		for _, c := range s.hosts() {
			list = append(list, c.holders()...)
		}
	}
	return list
}

// A Seat is the place of one worker at a [Port]. Its connection outlives the hosts that use
// it: with [Spec.Seat] a Worker takes it when it starts, and leaves it when it is closed, so
// that a host that has crashed finds the worker again when it is started anew, with the
// functions that it had declared and loaded before. Several Workers may use it at a time.
//
// To them the end of the connection is the crash of a process, after which none is started
// again: calls in flight are lost, later ones fail, and StopHost is called.
type Seat struct {
	port     *Port
	id, name string
	here     chan struct{} //clock:outside closed when the worker has come
	gone     chan struct{} //clock:outside closed when its connection has ended
	taken    bool          // guarded by the port's mutex
	out      process.Inbox[*message]
	running  sync.WaitGroup //clock:outside the goroutines that send and receive

	mu      sync.Mutex // guards:
	hangUp  func()     // nil: nobody has come
	conns   []*conn    // of the hosts that use it; the newest stands last
	last    *conn      // of the host that has learned last what the worker can do
	env     []string
	err     error // why the connection has ended
	closing bool
}

// ID is what the worker says in its StartStream. It is a secret: "attach:", the name of the
// host, and 128 random bits.
func (s *Seat) ID() string { return s.id }

// Environment is what a process of the worker would have had in its environment, as
// "NAME=VALUE", in the host that has started last; nil before. Who has started the worker may
// give it that.
func (s *Seat) Environment() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.env
}

// Here is closed when the worker has connected.
func (s *Seat) Here() <-chan struct{} { return s.here } //clock:outside another program dials

// Gone is closed when the connection of the worker has ended, or the seat was closed.
func (s *Seat) Gone() <-chan struct{} { return s.gone } //clock:outside another program dials

// farewell is how long a worker may take to hang up once it was told to, in real time.
const farewell = time.Second

// Close tells the worker to leave, waits for that, and breaks the connection of one that
// does not. Hosts should have ended before. Further calls only wait.
func (s *Seat) Close() {
	s.port.mu.Lock()
	delete(s.port.seats, s.id)
	s.port.mu.Unlock()
	s.mu.Lock()
	first := !s.closing
	s.closing = true
	hangUp := s.hangUp
	s.mu.Unlock()
	switch {
	case hangUp != nil:
		s.out.Put(&message{Content: &workerpb.StreamingMessage_WorkerTerminate{WorkerTerminate: &workerpb.WorkerTerminate{GracePeriod: durationpb.New(farewell)}}})
		limit := time.NewTimer(farewell) //clock:outside another program leaves
		defer limit.Stop()
		select { //clock:outside another program leaves
		case <-s.gone: //clock:outside another program leaves
		case <-limit.C: //clock:outside another program leaves
		}
		hangUp()
	case first:
		close(s.gone) //clock:outside another program leaves
	}
	s.running.Wait() //clock:outside they end with the stream
}

// sit gives the worker that has come its seat.
func (s *Seat) sit(from stream, hangUp func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing {
		hangUp()
		return
	}
	s.hangUp = hangUp
	s.running.Add(2)
	go s.send(from)    //clock:outside waited for by Close
	go s.receive(from) //clock:outside waited for by Close
	close(s.here)      //clock:outside another program dials
}

func (s *Seat) send(to stream) {
	defer s.running.Done()
	for {
		m, err := s.out.Next()
		if err != nil {
			return
		}
		if to.Send(m, s.out.Waiting()) != nil {
			s.hangUp() // receive notices
			return
		}
	}
}

func (s *Seat) receive(from stream) {
	defer s.running.Done()
	for {
		m, err := from.Recv()
		if err != nil {
			s.lost(err)
			return
		}
		if c := s.meant(m); c != nil {
			c.distribute(m)
		}
	}
}

// lost is the end of the connection.
func (s *Seat) lost(err error) {
	s.hangUp()
	s.out.End(err)
	s.mu.Lock()
	conns := s.conns
	s.conns, s.err = nil, err
	s.mu.Unlock()
	for _, c := range conns {
		c.broken(err)
		c.child.Gone("its connection ended")
	}
	close(s.gone) //clock:outside another program leaves
}

// hosts are the connections of the hosts that use the seat.
func (s *Seat) hosts() []*conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]*conn{}, s.conns...)
}

// meant is the host to whom the worker says something; nil: none any more. Not all workers
// say which request they answer: then it is the newest host's, which starts.
func (s *Seat) meant(m *message) *conn {
	conns := s.hosts()
	for _, c := range conns {
		if c.meant(m) {
			return c
		}
	}
	if len(conns) == 0 {
		return nil
	}
	return conns[len(conns)-1]
}

// meant reports whether a message is this host's for certain.
func (c *conn) meant(m *message) bool {
	id := m.GetInvocationResponse().GetInvocationId()
	if l := m.GetRpcLog(); l != nil {
		id = l.GetInvocationId()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case id != "":
		return c.calls[id] != nil
	case m.GetWorkerStatusResponse() != nil:
		return c.answers[statusOf(m)] != nil
	}
	return m.GetRequestId() == c.request
}

// The failures of a start without a worker.
var (
	errNobody = errors.New("nobody has connected")
	errLeft   = errors.New("its connection ended")
	errNoSeat = errors.New("the seat was closed before anybody connected")
)
