package worker

import (
	"context"
	"errors"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/amqp/values"
	"github.com/redeliver/redeliver/host/emulator/amqp/wire"
	"github.com/redeliver/redeliver/host/worker/settlementpb"
)

// settlement is the service by which handlers settle messages of Service Bus themselves.
// It knows those whose calls run in the process at the same endpoint.
//
// Reference: spec workers-dotnet-java 1.11.
type settlement struct {
	settlementpb.UnimplementedSettlementServer
	running func() []holder // the calls that run
}

// holder is a call that may hold messages or a session. The clock is that of its host: a
// process of a Pool serves one host after the other.
type holder struct {
	clk     clock.Clock
	actions bindings.Actions
}

// the decisions, in the spelling of the journal.
const (
	completed    = "completed"
	abandoned    = "abandoned"
	deferred     = "deferred"
	deadLettered = "dead_lettered"
)

// do finds the call that holds what is asked for. A worker that hangs up meanwhile changes
// nothing. The error is a gRPC status.
func (s *settlement) do(ctx context.Context, kind, name string, f func(ctx context.Context, a bindings.Actions) error) error {
	ctx = context.WithoutCancel(ctx)
	err := bindings.ErrNotHeld
	for _, h := range s.running() {
		h.clk.Inside("settlement", func() { err = f(ctx, h.actions) })
		if !errors.Is(err, bindings.ErrNotHeld) {
			break
		}
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, bindings.ErrNotHeld):
		return status.Errorf(codes.FailedPrecondition, "%s %q not found", kind, name)
	}
	return status.Error(codes.Unknown, utf8(err.Error()))
}

// settle ends the delivery of a message; properties is one map in AMQP's encoding.
func (s *settlement) settle(ctx context.Context, token string, properties []byte, how bindings.Disposition) (*emptypb.Empty, error) {
	if len(properties) > 0 {
		d := wire.NewDecoder(properties)
		m, ok := d.Any().(wire.Map)
		if !ok || d.Err() != nil || d.More() {
			return nil, status.Error(codes.Unknown, "propertiesToModify is not one map in AMQP's encoding")
		}
		how.Properties = values.PlainMap(m)
	}
	return &emptypb.Empty{}, s.do(ctx, "lock token", token, func(ctx context.Context, a bindings.Actions) error {
		return a.Settle(ctx, token, how)
	})
}

// Complete implements settlementpb.SettlementServer.
func (s *settlement) Complete(ctx context.Context, r *settlementpb.CompleteRequest) (*emptypb.Empty, error) {
	return s.settle(ctx, r.GetLocktoken(), nil, bindings.Disposition{Decision: completed})
}

// Abandon implements settlementpb.SettlementServer.
func (s *settlement) Abandon(ctx context.Context, r *settlementpb.AbandonRequest) (*emptypb.Empty, error) {
	return s.settle(ctx, r.GetLocktoken(), r.GetPropertiesToModify(), bindings.Disposition{Decision: abandoned})
}

// Defer implements settlementpb.SettlementServer.
func (s *settlement) Defer(ctx context.Context, r *settlementpb.DeferRequest) (*emptypb.Empty, error) {
	return s.settle(ctx, r.GetLocktoken(), r.GetPropertiesToModify(), bindings.Disposition{Decision: deferred})
}

// Deadletter implements settlementpb.SettlementServer.
func (s *settlement) Deadletter(ctx context.Context, r *settlementpb.DeadletterRequest) (*emptypb.Empty, error) {
	return s.settle(ctx, r.GetLocktoken(), r.GetPropertiesToModify(), bindings.Disposition{
		Decision: deadLettered, Reason: r.GetDeadletterReason().GetValue(), Description: r.GetDeadletterErrorDescription().GetValue(),
	})
}

// RenewMessageLock implements settlementpb.SettlementServer.
func (s *settlement) RenewMessageLock(ctx context.Context, r *settlementpb.RenewMessageLockRequest) (*emptypb.Empty, error) {
	return &emptypb.Empty{}, s.do(ctx, "lock token", r.GetLocktoken(), func(ctx context.Context, a bindings.Actions) error {
		return a.Renew(ctx, r.GetLocktoken())
	})
}

// inSession is do for a session.
func (s *settlement) inSession(ctx context.Context, session string, f func(ctx context.Context, a bindings.Actions) error) error {
	return s.do(ctx, "session", session, f)
}

// GetSessionState implements settlementpb.SettlementServer.
func (s *settlement) GetSessionState(ctx context.Context, r *settlementpb.GetSessionStateRequest) (*settlementpb.GetSessionStateResponse, error) {
	out := &settlementpb.GetSessionStateResponse{}
	return out, s.inSession(ctx, r.GetSessionId(), func(ctx context.Context, a bindings.Actions) (err error) {
		out.SessionState, err = a.SessionState(ctx, r.GetSessionId())
		return err
	})
}

// SetSessionState implements settlementpb.SettlementServer.
func (s *settlement) SetSessionState(ctx context.Context, r *settlementpb.SetSessionStateRequest) (*emptypb.Empty, error) {
	return &emptypb.Empty{}, s.inSession(ctx, r.GetSessionId(), func(ctx context.Context, a bindings.Actions) error {
		return a.SetSessionState(ctx, r.GetSessionId(), r.GetSessionState())
	})
}

// ReleaseSession implements settlementpb.SettlementServer.
func (s *settlement) ReleaseSession(ctx context.Context, r *settlementpb.ReleaseSessionRequest) (*emptypb.Empty, error) {
	return &emptypb.Empty{}, s.inSession(ctx, r.GetSessionId(), func(ctx context.Context, a bindings.Actions) error {
		return a.ReleaseSession(ctx, r.GetSessionId())
	})
}

// RenewSessionLock implements settlementpb.SettlementServer.
func (s *settlement) RenewSessionLock(ctx context.Context, r *settlementpb.RenewSessionLockRequest) (*settlementpb.RenewSessionLockResponse, error) {
	out := &settlementpb.RenewSessionLockResponse{}
	return out, s.inSession(ctx, r.GetSessionId(), func(ctx context.Context, a bindings.Actions) error {
		ends, err := a.RenewSession(ctx, r.GetSessionId())
		out.LockedUntil = timestamppb.New(ends)
		return err
	})
}
