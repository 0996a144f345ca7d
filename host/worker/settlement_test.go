//clock:outside real processes

package worker_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/functions/call"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/amqp/wire"
	"github.com/redeliver/redeliver/host/worker/settlementpb"
)

// properties are a map with each kind of value that libraries write (spec
// workers-dotnet-java 1.11), as AMQP has it.
func properties() []byte {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	return wire.AppendAny(nil, wire.Map{
		{Key: "null", Value: nil}, {Key: "bool", Value: true}, {Key: "byte", Value: uint8(1)}, {Key: "int", Value: int32(-2)}, {Key: "long", Value: int64(3)},
		{Key: "decimal", Value: wire.Decimal128{15: 7}}, {Key: "double", Value: 1.5}, {Key: "float", Value: float32(0.5)}, {Key: "short", Value: int16(-3)},
		{Key: "uri", Value: &wire.Described{Descriptor: wire.Symbol("com.microsoft:uri"), Value: "sb://x"}},
		{Key: "offset", Value: &wire.Described{Descriptor: wire.Symbol("com.microsoft:datetime-offset"), Value: int64(638_000_000_000_000_000)}}, {Key: "text", Value: "é"}, {Key: "binary", Value: []byte{0, 1}}, {Key: "uuid", Value: wire.UUID{15: 9}},
		{Key: "time", Value: wire.TimestampOf(at)}, {Key: "span", Value: &wire.Described{Descriptor: wire.Symbol("com.microsoft:timespan"), Value: int64(10_000_000)}},
	})
}

// settle carries out lines of the form "Method name", and answers what came of each.
func (a *actor) settle(lines string) string {
	var out []string
	for line := range strings.Lines(lines) {
		method, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		out = append(out, method+": "+settleOne(a.dialled, method, name))
	}
	return strings.Join(out, "\n")
}

func settleOne(conn grpc.ClientConnInterface, method, name string) string {
	var q, r proto.Message = nil, &emptypb.Empty{}
	path := method
	switch method {
	case "Complete":
		q = &settlementpb.CompleteRequest{Locktoken: name}
	case "Abandon":
		q = &settlementpb.AbandonRequest{Locktoken: name, PropertiesToModify: properties()}
	case "AbandonGarbage":
		path, q = "Abandon", &settlementpb.AbandonRequest{Locktoken: name, PropertiesToModify: []byte("no map")}
	case "Defer":
		q = &settlementpb.DeferRequest{Locktoken: name}
	case "Deadletter":
		q = &settlementpb.DeadletterRequest{Locktoken: name, PropertiesToModify: properties(), DeadletterReason: wrapperspb.String("why"), DeadletterErrorDescription: wrapperspb.String("because")}
	case "DeadletterBare":
		path, q = "Deadletter", &settlementpb.DeadletterRequest{Locktoken: name}
	case "RenewMessageLock":
		q = &settlementpb.RenewMessageLockRequest{Locktoken: name}
	case "GetSessionState":
		q, r = &settlementpb.GetSessionStateRequest{SessionId: name}, &settlementpb.GetSessionStateResponse{}
	case "SetSessionState":
		q = &settlementpb.SetSessionStateRequest{SessionId: name, SessionState: []byte{0, 255}}
	case "ReleaseSession":
		q = &settlementpb.ReleaseSessionRequest{SessionId: name}
	case "RenewSessionLock":
		q, r = &settlementpb.RenewSessionLockRequest{SessionId: name}, &settlementpb.RenewSessionLockResponse{}
	}
	if err := conn.Invoke(context.Background(), "/Settlement/"+path, q, r); err != nil {
		s := status.Convert(err)
		return s.Code().String() + " " + s.Message()
	}
	switch r := r.(type) {
	case *settlementpb.GetSessionStateResponse:
		return fmt.Sprintf("%q", r.GetSessionState())
	case *settlementpb.RenewSessionLockResponse:
		return r.GetLockedUntil().AsTime().Format(time.RFC3339)
	}
	return "done"
}

// held is what one call holds: a message "mine" and a session "s". Each call takes time
// on the host's clock.
type held struct {
	clk   clock.Clock
	state []byte

	mu   sync.Mutex // guards:
	done []string
}

func (h *held) note(ctx context.Context, is bool, text string) error {
	if !is {
		return bindings.ErrNotHeld
	}
	if err := h.clk.Sleep(ctx, time.Millisecond); err != nil { // fails outside the clock
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.done = append(h.done, text)
	return nil
}

func (h *held) Settle(ctx context.Context, lock string, how bindings.Disposition) error {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(how.Properties)) {
		names = append(names, fmt.Sprintf("%s=%v", name, how.Properties[name]))
	}
	if lock == "lost" {
		return errors.New("lock lost")
	}
	return h.note(ctx, lock == "mine", strings.TrimSpace(fmt.Sprint(how.Decision, " ", how.Reason, " ", how.Description, " ", strings.Join(names, " "))))
}

func (h *held) Renew(ctx context.Context, lock string) error {
	return h.note(ctx, lock == "mine", "renewed")
}

func (h *held) SessionState(ctx context.Context, session string) ([]byte, error) {
	return h.state, h.note(ctx, session == "s", "got")
}

func (h *held) SetSessionState(ctx context.Context, session string, state []byte) error {
	err := h.note(ctx, session == "s", "set")
	if err == nil {
		h.state = state
	}
	return err
}

func (h *held) RenewSession(ctx context.Context, session string) (time.Time, error) {
	return time.Date(2026, 1, 1, 1, 0, 0, 0, time.UTC), h.note(ctx, session == "s", "session renewed")
}

func (h *held) ReleaseSession(ctx context.Context, session string) error {
	return h.note(ctx, session == "s", "released")
}

// A handler settles by the service at the worker's endpoint (spec workers-dotnet-java
// 1.11), and only what a call that runs holds.
func TestSettlement(t *testing.T) {
	t.Parallel()
	on(t, "", time.Millisecond, func(b *bench) {
		b.load()
		h := &held{clk: b.clk}
		run := func(lines ...string) []string {
			resp, _, err := b.invoke("Settle", bindings.StringValue(strings.Join(lines, "\n")), func(r *call.Request) { r.Actions = h })
			if err != nil || resp.Status != call.Succeeded {
				b.Errorf("%+v, %v", resp, err)
			}
			return strings.Split(resp.Outputs["out"].Text, "\n")
		}
		got := run("Complete mine", "Abandon mine", "Defer mine", "Deadletter mine", "DeadletterBare mine", "RenewMessageLock mine",
			"GetSessionState s", "SetSessionState s", "GetSessionState s", "RenewSessionLock s", "ReleaseSession s",
			"Complete other", "Complete", "RenewMessageLock other", "GetSessionState S", "ReleaseSession", "Complete lost", "AbandonGarbage mine")
		if diff := cmp.Diff([]string{
			"Complete: done", "Abandon: done", "Defer: done", "Deadletter: done", "DeadletterBare: done", "RenewMessageLock: done",
			`GetSessionState: ""`, "SetSessionState: done", `GetSessionState: "\x00\xff"`, "RenewSessionLock: 2026-01-01T01:00:00Z", "ReleaseSession: done",
			`Complete: FailedPrecondition lock token "other" not found`, `Complete: FailedPrecondition lock token "" not found`,
			`RenewMessageLock: FailedPrecondition lock token "other" not found`, `GetSessionState: FailedPrecondition session "S" not found`,
			`ReleaseSession: FailedPrecondition session "" not found`, "Complete: Unknown lock lost",
			"AbandonGarbage: Unknown propertiesToModify is not one map in AMQP's encoding",
		}, got); diff != "" {
			b.Errorf("answers (-want +got):\n%s", diff)
		}
		all := "binary=[0 1] bool=true byte=1 decimal=[148 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 7] double=1.5 float=0.5 int=-2 long=3 null=<nil> " +
			"offset=" + fmt.Sprint(wire.AppendAny(nil, &wire.Described{Descriptor: wire.Symbol("com.microsoft:datetime-offset"), Value: int64(638_000_000_000_000_000)})) + " short=-3 span="
		for i := range h.done {
			h.done[i], _, _ = strings.Cut(h.done[i], "span=")
			if strings.Contains(h.done[i], "binary") {
				h.done[i] += "span="
			}
		}
		if diff := cmp.Diff([]string{
			"completed", "abandoned   " + all, "deferred", "dead_lettered why because " + all, "dead_lettered", "renewed",
			"got", "set", "got", "session renewed", "released",
		}, h.done); diff != "" {
			b.Errorf("done (-want +got):\n%s", diff)
		}
		// Without actions, as of another trigger, nothing is held.
		resp, _, err := b.invoke("Settle", bindings.StringValue("Complete mine"), nil)
		if got := resp.Outputs["out"].Text; err != nil || !strings.Contains(got, "FailedPrecondition") {
			b.Errorf("without actions: %q, %v", got, err)
		}
	})
}

// After the call its tokens are nobody's: another process, or a handler that goes on,
// comes too late.
func TestSettlementAfterTheCall(t *testing.T) {
	t.Parallel()
	on(t, "", 0, func(b *bench) {
		b.load()
		h := &held{clk: b.clk}
		resp, _, err := b.invoke("Address", bindings.Value{}, func(r *call.Request) { r.Actions = h })
		if err != nil {
			b.Error(err)
			return
		}
		b.clk.Outside(context.Background(), "settle", func() {
			conn, err := grpc.NewClient("passthrough:///"+net.JoinHostPort("127.0.0.1", resp.Outputs["out"].Text), grpc.WithTransportCredentials(insecure.NewCredentials()))
			check(err)
			defer func() { check(conn.Close()) }()
			for range 2 {
				if got := settleOne(conn, "Complete", "mine"); got != `FailedPrecondition lock token "mine" not found` {
					b.Errorf("after the call: %s", got)
				}
			}
		})
		if h.done != nil {
			b.Errorf("done %q", h.done)
		}
	})
}
