package call

import (
	"fmt"
	"slices"
	"sync"

	"google.golang.org/protobuf/proto"

	"github.com/redeliver/redeliver/functions/functionpb"
)

const (
	// PieceSize is the size of a piece in bytes. A larger message travels in
	// pieces, and a frame holds about as much of whole messages.
	PieceSize = 64 << 10

	// Window limits, in bytes, the logs and sleeps of a call that the host has not
	// taken yet. Past it the handler has to wait. See Taken in handler.proto.
	Window = 64 << 10
)

// Message is a HostMessage or a HandlerMessage.
type Message interface {
	proto.Message
	GetCall() uint64
}

// Outbox gathers the messages of many calls for the one stream that carries them.
// Messages that are put in while a frame is on its way travel together in the
// next one. The order within a call is kept. A large message goes in pieces, one
// for each frame, in turns with the pieces of other calls, so that it holds up
// its own call only.
//
// Put and Close may be called concurrently. Nothing waits for the other side.
type Outbox[M Message] struct {
	wrap func(call uint64, p *functionpb.Piece) M

	mu     sync.Mutex // guards:
	filled sync.Cond
	closed bool
	whole  []letter[M]         // that need no pieces, oldest first
	sent   uint64              // letters that have left whole
	lanes  map[uint64]*lane[M] // of calls that have a large message under way
	turns  []*lane[M]          // the same, the next one first
}

// letter is a message to send.
type letter[M Message] struct {
	m      M
	weight int
	raw    []byte // of a large one, instead of m
}

// lane holds what a call may send only after its large message.
type lane[M Message] struct {
	call  uint64
	rest  []byte // of the large message
	after uint64 // what sent is when all that was in whole before it has left
	then  []letter[M]
}

// NewOutbox returns an empty Outbox. wrap makes a message of a piece.
func NewOutbox[M Message](wrap func(call uint64, p *functionpb.Piece) M) *Outbox[M] {
	o := &Outbox[M]{wrap: wrap, lanes: map[uint64]*lane[M]{}}
	o.filled.L = &o.mu
	return o
}

// Put adds m, which must not be changed afterwards. The error says that it cannot
// be encoded. After Close a message is lost.
func (o *Outbox[M]) Put(m M) error {
	l := letter[M]{m: m, weight: weight(m)}
	if l.weight > PieceSize {
		raw, err := proto.Marshal(m)
		if err != nil {
			return fmt.Errorf("encode a message of some %d bytes: %w", l.weight, err)
		}
		l = letter[M]{raw: raw}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return nil
	}
	call := m.GetCall()
	switch busy := o.lanes[call]; {
	case busy != nil:
		busy.then = append(busy.then, l)
		return nil // the lane is served already
	case l.raw != nil:
		n := &lane[M]{call: call, rest: l.raw, after: o.queuedLocked()}
		o.lanes[call] = n
		o.turns = append(o.turns, n)
	default:
		o.whole = append(o.whole, l)
	}
	o.filled.Signal()
	return nil
}

// Close ends Run, once a send that is under way has returned.
func (o *Outbox[M]) Close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	o.filled.Signal()
}

// Run sends frame after frame until Close, or until send fails. Call it once. send
// must not keep the slice.
func (o *Outbox[M]) Run(send func(frame []M) error) error {
	var frame []M
	for {
		frame = o.next(frame)
		if len(frame) == 0 {
			return nil
		}
		if err := send(frame); err != nil {
			o.Close()
			return err
		}
		clear(frame)
	}
}

// next waits for messages and returns a frame of them in the place of frame; an empty
// one at the end.
func (o *Outbox[M]) next(frame []M) []M {
	frame = frame[:0]
	o.mu.Lock()
	defer o.mu.Unlock()
	for !o.closed && len(o.whole) == 0 && len(o.turns) == 0 {
		o.filled.Wait()
	}
	if o.closed {
		return frame
	}
	n := 0
	for weight := 0; n < len(o.whole) && weight < PieceSize; n++ {
		frame = append(frame, o.whole[n].m)
		weight += o.whole[n].weight
	}
	left := copy(o.whole, o.whole[n:])
	clear(o.whole[left:])
	o.whole = o.whole[:left]
	o.sent += uint64(n)
	// A large message must not overtake what its call has said before. With whole empty
	// there is always one that may leave.
	due := func(l *lane[M]) bool { return l.after <= o.sent }
	if i := slices.IndexFunc(o.turns, due); i >= 0 {
		frame = append(frame, o.pieceLocked(i))
	}
	return frame
}

// queuedLocked counts the letters that whole has been given so far.
func (o *Outbox[M]) queuedLocked() uint64 { return o.sent + uint64(len(o.whole)) }

// pieceLocked returns the next piece of the large message at turn i.
func (o *Outbox[M]) pieceLocked(i int) M {
	l := o.turns[i]
	o.turns = slices.Delete(o.turns, i, i+1)
	n := min(PieceSize, len(l.rest))
	p := &functionpb.Piece{Data: l.rest[:n:n], Last: n == len(l.rest)}
	l.rest = l.rest[n:]
	if p.Last {
		l.rest = nil
		for len(l.then) > 0 && l.rest == nil {
			next := l.then[0]
			l.then = l.then[1:]
			if l.rest = next.raw; l.rest == nil {
				o.whole = append(o.whole, next)
			}
		}
		l.after = o.queuedLocked()
	}
	if l.rest != nil {
		o.turns = append(o.turns, l)
	} else {
		delete(o.lanes, l.call)
	}
	return o.wrap(l.call, p)
}

// Pieces puts large messages together again, by their calls.
type Pieces map[uint64][][]byte

// Add takes the next piece of a call's message. With the last one it returns the
// encoded message.
func (p Pieces) Add(call uint64, piece *functionpb.Piece) (raw []byte, whole bool) {
	all := append(p[call], piece.GetData())
	if !piece.GetLast() {
		p[call] = all
		return nil, false
	}
	delete(p, call)
	return slices.Concat(all...), true
}
