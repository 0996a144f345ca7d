package dotnettest

import (
	"context"
	"fmt"
	"strings"

	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/redeliver/redeliver/host/worker/settlementpb"
	"github.com/redeliver/redeliver/host/worker/workerpb"
)

// settle does what ServiceBusMessageActions and ServiceBusSessionMessageActions do by that
// name, and logs what came of it (spec workers-dotnet-java 1.11).
func (w *worker) settle(r *workerpb.InvocationRequest, name string) {
	metadata := func(name string) string {
		v := r.GetTriggerMetadata()[name]
		return v.GetString_() + v.GetJson()
	}
	token, session := metadata("LockToken"), metadata("SessionId")
	if many := r.GetTriggerMetadata()["SessionIdArray"].GetCollectionString().GetString_(); len(many) > 0 {
		session = many[0]
	}
	var q, answer proto.Message = nil, &emptypb.Empty{}
	switch name {
	case "Complete":
		q = &settlementpb.CompleteRequest{Locktoken: strings.ToUpper(token)}
	case "Abandon":
		q = &settlementpb.AbandonRequest{Locktoken: token}
	case "Defer":
		q = &settlementpb.DeferRequest{Locktoken: token}
	case "Deadletter":
		q = &settlementpb.DeadletterRequest{Locktoken: token, DeadletterReason: wrapperspb.String("no such customer")}
	case "RenewMessageLock":
		q = &settlementpb.RenewMessageLockRequest{Locktoken: token}
	case "SetSessionState":
		q = &settlementpb.SetSessionStateRequest{SessionId: session, SessionState: []byte("half way")}
	case "GetSessionState":
		q, answer = &settlementpb.GetSessionStateRequest{SessionId: session}, &settlementpb.GetSessionStateResponse{}
	case "RenewSessionLock":
		q, answer = &settlementpb.RenewSessionLockRequest{SessionId: session}, &settlementpb.RenewSessionLockResponse{}
	case "ReleaseSession":
		q = &settlementpb.ReleaseSessionRequest{SessionId: session}
	default:
		panic("no such action: " + name)
	}
	text := "done"
	if err := w.conn.Invoke(context.Background(), "/Settlement/"+name, q, answer); err != nil {
		text = fmt.Sprintf("%s: %s", status.Code(err), status.Convert(err).Message())
	} else if s, ok := answer.(*settlementpb.GetSessionStateResponse); ok {
		text = string(s.GetSessionState())
	}
	w.log(r.GetInvocationId(), workerpb.RpcLog_Information, "Function.User", "0", fmt.Sprintf("%s %s: %s", name, metadata("SessionActions"), text), nil)
}
