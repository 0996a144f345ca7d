//clock:outside the attached worker, which never sees the clock

package hosttest_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/host"
	"github.com/redeliver/redeliver/host/hosttest"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/host/worker"
	"github.com/redeliver/redeliver/triggers"
)

// attachedPeer is a worker in the test's own process, with two functions: Ship, which fails,
// and Pack, which succeeds. It speaks the lines of package shim.
type attachedPeer struct {
	seat   *worker.Seat
	hangUp func()
	files  bool          // function.json files declare the functions
	busy   time.Duration // real time that the first of three calls takes, and half of it the second
	lose   int           // the call in which the connection ends, from 1

	mu    sync.Mutex // guards:
	calls int
}

const attachedFunctions = `[
  {"name":"Ship","functionId":"Ship","rawBindings":["{\"type\":\"serviceBusTrigger\",\"direction\":\"IN\",\"name\":\"order\",\"queueName\":\"parcels\",\"connection\":\"AzureWebJobsServiceBus\"}"],
   "retryOptions":{"maxRetryCount":4,"retryStrategy":"fixed_delay","delayInterval":"30s"}},
  {"name":"Pack","functionId":"Pack","rawBindings":["{\"type\":\"queueTrigger\",\"direction\":\"IN\",\"name\":\"box\",\"queueName\":\"boxes\",\"connection\":\"AzureWebJobsStorage\"}"]}]`

// attach connects a peer, until the test ends.
func attach(t *testing.T, p *attachedPeer) *attachedPeer {
	t.Helper()
	port, err := worker.OpenPort()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(port.Close)
	p.seat = port.Seat("test")
	nc, err := net.Dial("tcp", port.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	p.hangUp = func() { _ = nc.Close() }
	fmt.Fprintf(nc, `{"startStream":{"workerId":%q}}`+"\n", p.seat.ID())
	go p.serve(nc)
	return p
}

func (p *attachedPeer) serve(nc io.ReadWriter) {
	in := bufio.NewReader(nc)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		var m struct {
			RequestID                string `json:"requestId"`
			WorkerInitRequest        json.RawMessage
			FunctionsMetadataRequest json.RawMessage
			WorkerTerminate          json.RawMessage
			FunctionLoadRequest      *struct{ FunctionID string }
			InvocationRequest        *struct{ InvocationID, FunctionID string }
		}
		if err := json.Unmarshal(line, &m); err != nil {
			panic(err)
		}
		say := func(kind, body string) { fmt.Fprintf(nc, `{"requestId":%q,%q:%s}`+"\n", m.RequestID, kind, body) }
		const success = `"result":{"status":"Success"}`
		switch {
		case m.WorkerInitRequest != nil:
			say("workerInitResponse", `{`+success+`,"capabilities":{"TypedDataCollection":"true"}}`)
		case m.FunctionsMetadataRequest != nil && p.files:
			say("functionMetadataResponse", `{`+success+`,"useDefaultMetadataIndexing":true}`)
		case m.FunctionsMetadataRequest != nil:
			say("functionMetadataResponse", `{`+success+`,"functionMetadataResults":`+strings.ReplaceAll(attachedFunctions, "\n", "")+`}`)
		case m.FunctionLoadRequest != nil:
			say("functionLoadResponse", fmt.Sprintf(`{"functionId":%q,%s}`, m.FunctionLoadRequest.FunctionID, success))
		case m.WorkerTerminate != nil:
			p.hangUp()
		case m.InvocationRequest != nil:
			result := success
			if m.InvocationRequest.FunctionID == "Ship" {
				result = `"result":{"status":"Failure","exception":{"message":"carrier unavailable","type":"RuntimeError"}}`
			}
			p.mu.Lock()
			p.calls++
			n := p.calls
			p.mu.Unlock()
			if n == p.lose {
				p.hangUp()
				return
			}
			time.Sleep(p.busy / time.Duration(n%3+1))
			say("invocationResponse", fmt.Sprintf(`{"invocationId":%q,%s}`, m.InvocationRequest.InvocationID, result))
		}
	}
}

func (p *attachedPeer) made() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.calls
}

// Functions of an attached worker get all their attempts, and the same seed gives the same
// journal, however much real time its handlers take.
func TestAttached(t *testing.T) {
	t.Parallel()
	var first []byte
	for i, busy := range []time.Duration{0, 3 * time.Millisecond, time.Millisecond} {
		p := attach(t, &attachedPeer{busy: busy})
		h := hosttest.New(t, &hosttest.Options{Attached: p.seat, Seed: 7})
		h.SendServiceBus("parcels", &servicebus.Message{MessageID: "m7", Body: []byte("7")})
		h.Send("boxes", "1")
		h.AwaitKind(journal.DeadLettered)
		h.WantDeliveries("Ship", 5, 5, 5, 5, 5, 5, 5, 5, 5, 5)
		h.WantAttempts("Pack", 1)
		if p.made() != 51 {
			t.Errorf("%d calls, want 51", p.made())
		}
		if err := h.Close(); err != nil {
			t.Error(err)
		}
		var journal bytes.Buffer
		if _, err := h.Journal().WriteTo(&journal); err != nil {
			t.Fatal(err)
		}
		if i > 0 && !bytes.Equal(first, journal.Bytes()) {
			t.Errorf("handlers of %v have another journal:\n%s\n%s", busy, first, journal.Bytes())
		}
		first = journal.Bytes()
	}
}

// Functions that files declare run in an attached worker too.
func TestAttachedFiles(t *testing.T) {
	t.Parallel()
	p := attach(t, &attachedPeer{files: true})
	h := hosttest.New(t, &hosttest.Options{Attached: p.seat, Files: map[string]string{
		"Pack/function.json": `{"bindings":[{"type":"queueTrigger","direction":"in","name":"box","queueName":"boxes"}]}`,
	}})
	h.Send("boxes", "1")
	h.AwaitSettled("Pack", triggers.Deleted)
	if p.made() != 1 {
		t.Errorf("%d calls, want 1", p.made())
	}
}

// Handlers of this process take the place of those of the worker, by name, and run beside the
// others.
func TestAttachedBesideHandlers(t *testing.T) {
	t.Parallel()
	p := attach(t, &attachedPeer{})
	ran := 0
	own := functions.New()
	own.Queue("pack", "boxes", func(context.Context, functions.QueueMessage) error { ran++; return nil })
	h := hosttest.New(t, &hosttest.Options{Attached: p.seat, Handlers: own})
	h.Send("boxes", "1")
	h.AwaitSettled("pack", triggers.Deleted)
	h.SendServiceBus("parcels", &servicebus.Message{MessageID: "m7", Body: []byte("7")})
	h.AwaitKind(journal.DeadLettered)
	if ran != 1 || p.made() != 50 {
		t.Errorf("%d calls in process and %d attached, want 1 and 50", ran, p.made())
	}
}

// A host that has crashed, or was started again, finds the worker where it was.
func TestAttachedStartAgain(t *testing.T) {
	t.Parallel()
	p := attach(t, &attachedPeer{})
	h := hosttest.New(t, &hosttest.Options{Attached: p.seat})
	h.KillAt("Ship", hosttest.BetweenAttempts, 3)
	h.SendServiceBus("parcels", &servicebus.Message{MessageID: "m7", Body: []byte("7")})
	h.AwaitKilled()
	h.StartAgain()
	h.AwaitKind(journal.DeadLettered)
	h.WantDeliveries("Ship", 3, 5, 5, 5, 5, 5, 5, 5, 5, 5)
	h.KillAt("Pack", hosttest.BeforeHandler, 1)
	h.Send("boxes", "1")
	h.AwaitKilled()
	h.StartAgain()
	h.AwaitSettled("Pack", triggers.Deleted)
	h.StartAgain()
	h.Send("boxes", "2")
	h.AwaitSettled("Pack", triggers.Deleted)
}

// Without its worker the host runs no more: the attempt is lost and the message stays.
func TestAttachedLost(t *testing.T) {
	t.Parallel()
	p := attach(t, &attachedPeer{lose: 3})
	h := hosttest.New(t, &hosttest.Options{Attached: p.seat})
	h.SendServiceBus("parcels", &servicebus.Message{MessageID: "m7", Body: []byte("7")})
	exit := h.AwaitKind(journal.ProcessExited)
	if exit.Name != "attached worker" || exit.Status != "its connection ended" || exit.HasDelay {
		t.Errorf("the record of the end is %v", exit)
	}
	h.Run(time.Hour)
	if h.State() != host.Error || p.made() != 3 {
		t.Errorf("the host is %v after %d calls", h.State(), p.made())
	}
	ended := slices.DeleteFunc(h.Journal().Records(), func(r journal.Record) bool { return r.Kind != journal.AttemptEnded })
	if last := ended[len(ended)-1]; len(ended) != 3 || last.Error != "function \"Ship\": attached worker process exited: its connection ended" {
		t.Errorf("the attempts ended with %v", ended)
	}
}
