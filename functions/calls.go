package functions

import (
	"context"
	"sync"

	"google.golang.org/protobuf/proto"

	"github.com/redeliver/redeliver/functions/call"
	"github.com/redeliver/redeliver/functions/functionpb"
)

// calls are the calls of a host that are in flight over one stream.
type calls struct {
	app *App
	ctx context.Context // of the stream
	out *call.Outbox[*functionpb.HandlerMessage]

	pieces call.Pieces // the receiver's

	mu      sync.Mutex // guards:
	running map[uint64]*streamLink
}

func newCalls(ctx context.Context, app *App) *calls {
	return &calls{
		app: app, ctx: ctx, pieces: call.Pieces{}, running: map[uint64]*streamLink{},
		out: call.NewOutbox(func(id uint64, p *functionpb.Piece) *functionpb.HandlerMessage {
			return &functionpb.HandlerMessage{Call: id, Content: &functionpb.HandlerMessage_Piece{Piece: p}}
		}),
	}
}

// receive takes what the host says until the stream ends. It waits for nothing else.
func (c *calls) receive(next func() (*functionpb.HostFrame, error)) error {
	for {
		frame, err := next()
		if err != nil {
			return err
		}
		for _, m := range frame.GetMessages() {
			c.take(m)
		}
	}
}

// take deals with one message of the host.
func (c *calls) take(m *functionpb.HostMessage) {
	id := m.GetCall()
	switch content := m.GetContent().(type) {
	case *functionpb.HostMessage_Request:
		l := c.begin(id)
		go l.serve(content.Request)
	case *functionpb.HostMessage_Piece: // of a request, as nothing else is large
		if raw, whole := c.pieces.Add(id, content.Piece); whole {
			l := c.begin(id)
			go l.serveEncoded(raw)
		}
	default:
		c.mu.Lock()
		l := c.running[id]
		c.mu.Unlock()
		if l != nil {
			l.take(m)
		}
	}
}

func (c *calls) begin(id uint64) *streamLink {
	l := &streamLink{calls: c, id: id}
	l.ctx, l.cancel = context.WithCancel(c.ctx)
	l.changed.L = &l.mu
	c.mu.Lock()
	c.running[id] = l
	c.mu.Unlock()
	return l
}

func (c *calls) end(id uint64) {
	c.mu.Lock()
	delete(c.running, id)
	c.mu.Unlock()
}

// close ends the sending, and what waits in calls for the host.
func (c *calls) close() {
	c.out.Close()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, l := range c.running {
		l.close()
	}
}

// serveEncoded is serve for a request that came in pieces.
func (l *streamLink) serveEncoded(raw []byte) {
	m := &functionpb.HostMessage{}
	if err := proto.Unmarshal(raw, m); err != nil {
		l.refuse(err.Error())
		return
	}
	l.serve(m.GetRequest())
}

// serve makes the call.
func (l *streamLink) serve(request *functionpb.Request) {
	req, err := call.RequestFromProto(request)
	if err != nil {
		l.refuse(err.Error())
		return
	}
	// runtime.Goexit in a handler (testing's FailNow is one) runs deferred calls
	// only. The host must hear of it all the same.
	answered := false
	defer func() {
		if !answered {
			l.result(&call.Response{Error: &call.Error{
				Type: "runtime.Goexit", Message: "the handler ended its goroutine without returning",
			}})
		}
	}()
	resp := l.calls.app.Call(l.ctx, req, l)
	answered = true
	l.result(resp)
}
