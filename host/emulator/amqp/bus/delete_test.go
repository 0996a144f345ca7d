package bus_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	goamqp "github.com/Azure/go-amqp"

	servicebusapi "github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/emulator/amqp"
	"github.com/redeliver/redeliver/host/emulator/amqp/bus"
	"github.com/redeliver/redeliver/host/emulator/amqp/wire"
	"github.com/redeliver/redeliver/host/emulator/servicebus"
	"github.com/redeliver/redeliver/host/journal"
)

// short is the client's end of a connection that breaks after so many bytes more have been
// read.
type short struct {
	net.Conn
	mu   sync.Mutex
	left int // -1: as many as there are
	read []byte
}

func (c *short) Read(p []byte) (int, error) {
	c.mu.Lock()
	left := c.left
	c.mu.Unlock()
	if left == 0 {
		c.Conn.Close()
		return 0, io.EOF
	}
	p = p[:min(len(p), 32)] // a read that goes on when the limit is set is not long
	n, err := c.Conn.Read(p)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.left > 0 {
		c.left = max(c.left-n, 0)
		c.read = append(c.read, p[:n]...)
	}
	return n, err
}

// transfers counts the whole deliveries in what was read.
func (c *short) transfers(t *testing.T) (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for b := c.read; ; {
		size, err := wire.FrameSize(b, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		if size == 0 || size > len(b) {
			return n
		}
		frame, err := wire.ParseFrame(b[:size])
		if err != nil {
			t.Fatal(err)
		}
		if len(frame.Body) > 0 {
			if p, _, _ := wire.ParseBody(frame.Body); p != nil {
				if f, ok := p.(*wire.Transfer); ok && !f.More {
					n++
				}
			}
		}
		b = b[size:]
	}
}

// TestReceiveAndDeleteGivesBack: messages of receive-and-delete that were not transferred
// when the connection broke are in the queue again, in their places and uncounted, and the
// journal says so.
func TestReceiveAndDeleteGivesBack(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ bytes, body int }{
		"at once":           {725, 10},
		"nothing":           {40, 10},
		"in fragments":      {200 << 10, 150 << 10}, // one, and half of the next
		"more than is kept": {100 << 10, 100 << 10},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const n = 150
			var mu sync.Mutex
			decided := map[string]int{}
			w := newWorld(t, &servicebus.Options{Record: func(r journal.Record) {
				mu.Lock()
				defer mu.Unlock()
				if r.Kind == journal.Settled {
					decided[r.Decision]++
				}
			}}, nil)
			w.queue(t, servicebusapi.Queue{Name: "q"})
			w.do(t, func(ctx context.Context) error {
				for i := range n {
					if err := w.ns.Send(ctx, "q", &servicebusapi.Message{MessageID: fmt.Sprint(i), Body: make([]byte, c.body)}); err != nil {
						return err
					}
				}
				return nil
			})
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			server := amqp.NewServer(bus.New(w.clk, w.ns, nil), nil)
			defer server.Close()
			near, far := net.Pipe()
			var serving sync.WaitGroup
			serving.Go(func() { server.ServeConn(far) })
			client := &short{Conn: near, left: -1}
			conn, err := goamqp.NewConn(ctx, client, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			session, err := conn.NewSession(ctx, nil)
			if err != nil {
				t.Fatal(err)
			}
			r, err := session.NewReceiver(ctx, "q", &goamqp.ReceiverOptions{Credit: -1, RequestedSenderSettleMode: goamqp.SenderSettleModeSettled.Ptr()})
			if err != nil {
				t.Fatal(err)
			}
			client.mu.Lock()
			client.left = c.bytes
			client.mu.Unlock()
			if err := r.IssueCredit(n); err != nil {
				t.Fatal(err)
			}
			serving.Wait()
			sent := client.transfers(t)
			if got := w.counts(t, "q").Active; got != int64(n-sent) {
				t.Errorf("%d messages in the queue after %d of %d were transferred", got, sent, n)
			}
			w.do(t, func(ctx context.Context) error {
				next, err := w.ns.Receiver(ctx, "q", nil)
				if err != nil {
					return err
				}
				list, err := next.Receive(ctx, n, 0)
				for i, m := range list {
					if want := fmt.Sprint(sent + i); m.MessageID != want || m.DeliveryCount != 0 || m.SequenceNumber != int64(sent+i+1) {
						t.Errorf("message %d is %s, number %d, count %d: want %s", i, m.MessageID, m.SequenceNumber, m.DeliveryCount, want)
						break
					}
				}
				return err
			})
			mu.Lock()
			defer mu.Unlock()
			if decided["completed"] != sent {
				t.Errorf("the journal has %v, and %d messages were transferred", decided, sent)
			}
		})
	}
}
