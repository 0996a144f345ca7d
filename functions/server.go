package functions

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/redeliver/redeliver/functions/call"
	"github.com/redeliver/redeliver/functions/functionpb"
)

// grpcPlugin is the process side of go-plugin's interface.
type grpcPlugin struct {
	plugin.NetRPCUnsupportedPlugin
	app *App
}

func (p *grpcPlugin) GRPCServer(_ *plugin.GRPCBroker, s *grpc.Server) error {
	functionpb.RegisterHandlerServer(s, &server{app: p.app})
	return nil
}

func (p *grpcPlugin) GRPCClient(context.Context, *plugin.GRPCBroker, *grpc.ClientConn) (any, error) {
	return nil, errors.New("package host/plugin has the host's side")
}

// server is the Handler service over an App.
type server struct {
	functionpb.UnimplementedHandlerServer
	app *App
}

func (s *server) Describe(context.Context, *functionpb.DescribeRequest) (*functionpb.DescribeResponse, error) {
	r := &functionpb.DescribeResponse{SdkVersion: sdkVersion()}
	for _, d := range s.app.Declarations() {
		r.Functions = append(r.Functions, call.DeclarationToProto(d))
	}
	return r, nil
}

// Hold waits until the host lets go, and then sees to it that the process ends,
// soon and in order if the host asked for it, anyhow if not.
func (s *server) Hold(_ *functionpb.HoldRequest, stream grpc.ServerStreamingServer[functionpb.HoldResponse]) error {
	<-stream.Context().Done()
	time.AfterFunc(holdGrace, exitOrphaned)
	return nil
}

func (s *server) Invoke(stream grpc.BidiStreamingServer[functionpb.HostMessage, functionpb.HandlerMessage]) error {
	first, err := stream.Recv()
	if err != nil {
		return err
	}
	if first.GetRequest() == nil {
		return status.Error(codes.InvalidArgument, "the first message of a call must be a request")
	}
	req, err := call.RequestFromProto(first.GetRequest())
	if err != nil {
		return status.Error(codes.InvalidArgument, err.Error())
	}
	ctx, cancel := context.WithCancel(stream.Context())
	defer cancel()
	l := &streamLink{stream: stream}
	go l.receive(cancel) // ends with the stream, which ends with this call

	// runtime.Goexit in a handler (testing's FailNow is one) runs deferred calls
	// only. The host must hear of it all the same.
	answered := false
	defer func() {
		if !answered {
			_ = l.result(&call.Response{Error: &call.Error{
				Type: "runtime.Goexit", Message: "the handler ended its goroutine without returning",
			}})
		}
	}()
	resp := s.app.Call(ctx, req, l)
	answered = true
	return l.result(resp)
}

// streamLink is the [Link] over the stream of a call.
type streamLink struct {
	stream grpc.BidiStreamingServer[functionpb.HostMessage, functionpb.HandlerMessage]

	mu     sync.Mutex    // one sender at a time, and guards:
	ended  bool          // the result is out
	asleep []chan string // sleeps without an answer, oldest first
	sleeps int64         // asked for so far
}

// receive takes what the host says until the stream ends.
func (l *streamLink) receive(cancel context.CancelFunc) {
	for {
		m, err := l.stream.Recv()
		switch {
		case err != nil:
			cancel()
			return
		case m.GetCancel() != nil:
			cancel()
		case m.GetWoken() != nil:
			l.mu.Lock()
			if len(l.asleep) > 0 {
				l.asleep[0] <- m.GetWoken().GetError()
				l.asleep = l.asleep[1:]
			}
			l.mu.Unlock()
		}
	}
}

func (l *streamLink) Log(line call.Log) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.ended {
		_ = l.stream.Send(&functionpb.HandlerMessage{Content: &functionpb.HandlerMessage_Log{Log: call.LogToProto(line)}})
	}
}

func (l *streamLink) Sleep(ctx context.Context, d time.Duration) error {
	woken := make(chan string, 1)
	number, err := l.sleep(d, woken)
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
func (l *streamLink) sleep(d time.Duration, woken chan string) (int64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return 0, errOver
	}
	l.asleep = append(l.asleep, woken)
	l.sleeps++
	return l.sleeps, l.stream.Send(&functionpb.HandlerMessage{Content: &functionpb.HandlerMessage_Sleep{
		Sleep: &functionpb.Sleep{Duration: durationpb.New(d)},
	}})
}

// withdraw tells the host that nobody waits for a sleep any more, so that it does
// not sleep on while there is an answer.
func (l *streamLink) withdraw(number int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.ended {
		_ = l.stream.Send(&functionpb.HandlerMessage{Content: &functionpb.HandlerMessage_Withdraw{
			Withdraw: &functionpb.Withdraw{Sleep: number},
		}})
	}
}

// result sends the outcome, after which nothing else leaves.
func (l *streamLink) result(r *call.Response) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = true
	return l.stream.Send(&functionpb.HandlerMessage{Content: &functionpb.HandlerMessage_Result{Result: call.ResponseToProto(r)}})
}
