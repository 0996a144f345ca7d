package amqp

import (
	"encoding/binary"
	"strings"

	"github.com/redeliver/redeliver/host/emulator/amqp/wire"
)

// replyLimit is how many answers wait for a client to grant credit for them.
const replyLimit = 1000

// respond answers requests.
func (l *link) respond(node Responder, list []Delivery) {
	for i := range list {
		d := &list[i]
		request, err := wire.ParseMessage(d.Payload)
		if err != nil {
			d.Err = wire.Errorf(wire.CondDecodeError, "%v", err)
			continue
		}
		to := l.replyLink(request.Properties.ReplyTo)
		if to == nil {
			// Its receiver has gone. Clients attach both links again on this condition
			// (azure-sdk-for-go, azeventhubs live test LinksManagementRetry); a missing
			// entity they would take for the end.
			d.Err = wire.Errorf(wire.CondDetachForced, "no link receives answers for %q", request.Properties.ReplyTo.V)
			continue
		}
		answer := node.Respond(request, to.largestAnswer(), d.Txn)
		answer.HasProperties = true
		answer.Properties.CorrelationID = request.Properties.MessageID
		if answer.Properties.CorrelationID == nil {
			answer.Properties.CorrelationID = request.Properties.CorrelationID
		}
		answer.Properties.To = request.Properties.ReplyTo
		to.reply(answer.Append(nil))
	}
}

// replyLink finds the link that receives the answers to l's requests: the one
// whose target is replyTo; else one of the same session with the same address;
// else one of the connection.
func (l *link) replyLink(replyTo wire.Opt[string]) *link {
	c := l.s.c
	c.mu.Lock()
	defer c.mu.Unlock()
	var best *link
	rank := 0
	for _, s := range c.sessions {
		for _, r := range s.answering {
			if r.stopping {
				continue
			}
			target := ""
			if r.attach.Target != nil {
				target = r.attach.Target.Address.V
			}
			score := 0
			switch same := strings.EqualFold(r.request.Address, l.request.Address); {
			case same && replyTo.Set && target == replyTo.V:
				score = 4
			case replyTo.Set && target == replyTo.V:
				score = 3
			case same && s == l.s:
				score = 2
			case same:
				score = 1
			}
			if score > rank {
				best, rank = r, score
			}
		}
	}
	return best
}

// largestAnswer is the size of the largest answer on the link, by what the node is granted
// and the client takes. There is room for the server's own part of an answer.
func (l *link) largestAnswer() int {
	const added = 1 << 10 // correlation and address
	largest := l.maxSize
	if theirs := l.attach.MaxMessageSize; theirs.Set && theirs.V > 0 {
		largest = min(largest, theirs.V)
	}
	return int(max(largest, 2*added)) - added
}

// reply sends an encoded answer as soon as the client takes it.
func (l *link) reply(answer []byte) {
	c := l.s.c
	c.mu.Lock()
	if l.stopping {
		c.mu.Unlock()
		return
	}
	l.replies = append(l.replies, answer)
	l.pumpLocked()
	flood := len(l.replies) > replyLimit
	c.mu.Unlock()
	if flood {
		l.stop(wire.Errorf(wire.CondResourceLimitExceeded, "%d answers wait for credit", replyLimit), false)
	}
}

// pumpRepliesLocked sends answers that the window held back.
func (s *session) pumpRepliesLocked() {
	for _, l := range s.answering {
		l.pumpLocked()
	}
}

// reply is an answer of which not all frames are sent: the client's window may be
// smaller than the answer, which then goes on with the next flow.
type reply struct {
	p    wire.Transfer
	rest []byte
}

// pumpLocked sends answers as far as credit and window go.
func (l *link) pumpLocked() {
	s := l.s
	sent := false
	for l.attached && !l.stopping && s.outWindow > 0 {
		if len(l.begun.rest) == 0 && !l.beginReplyLocked() {
			break
		}
		l.begun.rest = l.fragmentLocked(&l.begun.p, l.begun.rest)
		sent = true
	}
	if sent {
		s.c.flushLocked()
	}
}

// beginReplyLocked takes the next answer, if there is one and credit for it.
func (l *link) beginReplyLocked() bool {
	s := l.s
	l.begun = reply{}
	if len(l.replies) == 0 || l.credit == 0 {
		return false
	}
	payload := l.replies[0]
	l.replies[0] = nil
	l.replies = l.replies[1:]
	l.credit--
	l.deliveryCount++
	settled := l.request.SendMode != wire.SendUnsettled
	l.begun = reply{rest: payload, p: wire.Transfer{
		Handle: l.handle, DeliveryID: wire.Some(s.nextDelivery), Tag: binary.BigEndian.AppendUint32(nil, s.nextDelivery),
		Format: wire.Some[uint32](0), Settled: wire.Some(settled),
	}}
	s.nextDelivery++
	if !settled {
		s.unsettledLocked(l.begun.p.DeliveryID.V, &sent{l: l})
	}
	return true
}
