package plugin

import (
	"context"
	"fmt"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/redeliver/redeliver/functions/call"
	"github.com/redeliver/redeliver/functions/functionpb"
)

// calling is the stream that carries all calls of a process. It has two goroutines,
// one that sends and one that receives, which wait for nothing but the process: what
// they bring waits in the inbox of its call.
type calling struct {
	out     *call.Outbox[*functionpb.HostMessage]
	running sync.WaitGroup //clock:outside the two goroutines

	pieces call.Pieces // the receiver's

	mu    sync.Mutex // guards:
	last  uint64     // number of a call
	calls map[uint64]*conversation
	err   error // of the stream, when it has ended
}

// openCalls opens the stream. It ends with ctx, or with the process.
func openCalls(ctx context.Context, stub functionpb.HandlerClient) (*calling, error) {
	sctx, hangUp := context.WithCancel(ctx) //clock:outside the stream of a process
	stream, err := stub.Calls(sctx)
	if err != nil {
		hangUp()
		return nil, err
	}
	s := &calling{
		pieces: call.Pieces{}, calls: map[uint64]*conversation{},
		out: call.NewOutbox(func(id uint64, p *functionpb.Piece) *functionpb.HostMessage {
			return &functionpb.HostMessage{Call: id, Content: &functionpb.HostMessage_Piece{Piece: p}}
		}),
	}
	s.running.Add(2)
	go func() { //clock:outside waited for through running
		defer s.running.Done()
		if s.out.Run(func(frame []*functionpb.HostMessage) error {
			return stream.Send(&functionpb.HostFrame{Messages: frame})
		}) != nil {
			hangUp() // the receiver knows why, or hears of it now
		}
	}()
	go func() { //clock:outside waited for through running
		defer s.running.Done()
		defer hangUp()
		s.broken(s.receive(stream))
	}()
	return s, nil
}

// wait returns when both goroutines have ended.
func (s *calling) wait() {
	s.running.Wait() //clock:outside they end with the stream
}

// receive brings what the handler says to its calls, until the stream ends.
func (s *calling) receive(stream grpc.BidiStreamingClient[functionpb.HostFrame, functionpb.HandlerFrame]) error {
	for {
		frame, err := stream.Recv()
		if err != nil {
			return err
		}
		s.distribute(frame.GetMessages())
	}
}

func (s *calling) distribute(messages []*functionpb.HandlerMessage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range messages {
		c := s.calls[m.GetCall()]
		switch content := m.GetContent().(type) {
		case *functionpb.HandlerMessage_Piece:
			if c == nil {
				delete(s.pieces, m.GetCall())
				continue
			}
			if raw, whole := s.pieces.Add(m.GetCall(), content.Piece); whole {
				c.in.Put(delivered{raw: raw})
			}
		case *functionpb.HandlerMessage_Withdraw:
			if c != nil {
				c.withdraw(content.Withdraw.GetSleep())
			}
		default:
			if c != nil {
				c.in.Put(delivered{m: m})
			}
		}
	}
}

// begin gives c a number and brings it what the handler says to it from now on.
func (s *calling) begin(c *conversation) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last++
	c.id = s.last
	s.calls[c.id] = c
	if s.err != nil {
		c.in.End(s.err)
	}
}

// end forgets c.
func (s *calling) end(c *conversation) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.calls, c.id)
}

// broken ends all calls, those to come too, with the error of the stream.
func (s *calling) broken(err error) {
	s.out.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = err
	for _, c := range s.calls {
		c.in.End(err)
	}
}

// delivered is a message, or an encoded one that came in pieces.
type delivered struct {
	m   *functionpb.HandlerMessage
	raw []byte
}

// message decodes what came in pieces.
func (d delivered) message() (*functionpb.HandlerMessage, error) {
	if d.m != nil {
		return d.m, nil
	}
	m := &functionpb.HandlerMessage{}
	if err := proto.Unmarshal(d.raw, m); err != nil {
		return nil, fmt.Errorf("a message in several parts: %w", err)
	}
	return m, nil
}
