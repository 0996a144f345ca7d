package functions

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/redeliver/redeliver/functions/call"
	"github.com/redeliver/redeliver/functions/functionpb"
)

// streamLink is the [Link] of one call over the stream of all.
type streamLink struct {
	calls  *calls
	id     uint64
	ctx    context.Context // of the call
	cancel context.CancelFunc

	mu      sync.Mutex    // guards, and keeps messages in order:
	changed sync.Cond     // open or ended
	ended   bool          // the outcome is out
	open    int           // bytes of logs and sleeps that the host has not dealt with
	asleep  []chan string // sleeps without an answer, oldest first
	sleeps  int64         // asked for so far
}

// take deals with a message of the host to a running call.
func (l *streamLink) take(m *functionpb.HostMessage) {
	switch content := m.GetContent().(type) {
	case *functionpb.HostMessage_Cancel:
		l.cancel()
	case *functionpb.HostMessage_Woken:
		l.mu.Lock()
		defer l.mu.Unlock()
		if len(l.asleep) > 0 {
			l.asleep[0] <- content.Woken.GetError()
			l.asleep = l.asleep[1:]
		}
	case *functionpb.HostMessage_Taken:
		l.mu.Lock()
		defer l.mu.Unlock()
		l.open -= int(content.Taken.GetBytes())
		l.changed.Broadcast()
	}
}

// close lets go of what waits for room.
func (l *streamLink) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = true
	l.changed.Broadcast()
}

// putLocked sends a log or a sleep, when the host has room for it. It reports
// whether it did; not if the call or ctx ended first.
func (l *streamLink) putLocked(ctx context.Context, m *functionpb.HandlerMessage) bool {
	if l.open >= call.Window {
		defer context.AfterFunc(ctx, func() {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.changed.Broadcast()
		})()
	}
	for !l.ended && l.open >= call.Window {
		if ctx.Err() != nil {
			return false
		}
		l.changed.Wait()
	}
	if l.ended {
		return false
	}
	l.open += proto.Size(m)
	return l.calls.out.Put(m) == nil
}

func (l *streamLink) Log(line call.Log) {
	m := &functionpb.HandlerMessage{Call: l.id, Content: &functionpb.HandlerMessage_Log{Log: call.LogToProto(line)}}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.putLocked(context.Background(), m)
}

func (l *streamLink) Sleep(ctx context.Context, d time.Duration) error {
	woken := make(chan string, 1)
	number, err := l.sleep(ctx, d, woken)
	if err != nil {
		return err
	}
	select {
	case text := <-woken:
		if text == "" {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		return errors.New(text)
	case <-ctx.Done():
		l.withdraw(number)
		return ctx.Err()
	}
}

// sleep asks for a sleep and returns its number.
func (l *streamLink) sleep(ctx context.Context, d time.Duration, woken chan string) (int64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	m := &functionpb.HandlerMessage{Call: l.id, Content: &functionpb.HandlerMessage_Sleep{
		Sleep: &functionpb.Sleep{Duration: durationpb.New(d)},
	}}
	if !l.putLocked(ctx, m) {
		if l.ended {
			return 0, errOver
		}
		return 0, ctx.Err()
	}
	l.asleep = append(l.asleep, woken)
	l.sleeps++
	return l.sleeps, nil
}

// withdraw tells the host that a sleep is no longer waited for, so that it does not
// sleep on while there is an answer.
func (l *streamLink) withdraw(number int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.ended {
		_ = l.calls.out.Put(&functionpb.HandlerMessage{Call: l.id, Content: &functionpb.HandlerMessage_Withdraw{
			Withdraw: &functionpb.Withdraw{Sleep: number},
		}})
	}
}

// result sends the outcome, after which nothing else leaves.
func (l *streamLink) result(r *call.Response) {
	m := &functionpb.HandlerMessage{Call: l.id, Content: &functionpb.HandlerMessage_Result{Result: call.ResponseToProto(r)}}
	if err := l.last(m); err != nil {
		l.refuse(err.Error())
	}
}

// refuse ends the call without an outcome.
func (l *streamLink) refuse(reason string) {
	_ = l.last(&functionpb.HandlerMessage{Call: l.id, Content: &functionpb.HandlerMessage_Refusal{
		Refusal: &functionpb.Refusal{Reason: strings.ToValidUTF8(reason, "\uFFFD")},
	}})
}

// last sends the last message of the call.
func (l *streamLink) last(m *functionpb.HandlerMessage) error {
	l.cancel()
	l.calls.end(l.id)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = true
	l.changed.Broadcast()
	return l.calls.out.Put(m)
}
