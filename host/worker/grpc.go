package worker

import (
	"net"
	"sync"

	"google.golang.org/grpc"

	"github.com/redeliver/redeliver/functions/call"
	"github.com/redeliver/redeliver/host/listen"
	"github.com/redeliver/redeliver/host/worker/settlementpb"
	"github.com/redeliver/redeliver/host/worker/workerpb"
)

// openGRPC opens an endpoint for gRPC.
func openGRPC(id string, beside *settlement) (endpoint, error) {
	l, err := listen.Port{Service: "language worker"}.Open()
	if err != nil {
		return nil, err
	}
	one := newInvited(id)
	e := &grpcEndpoint{listener: l, found: one.found, server: newServer(beside)}
	workerpb.RegisterFunctionRpcServer(e.server, &eventStream{claim: one.claim})
	e.serving.Add(1)
	go func() { //clock:outside waited for by close
		defer e.serving.Done()
		_ = e.server.Serve(l) // it ends by close
	}()
	return e, nil
}

// newServer is a server of gRPC that serves settlement.
func newServer(beside *settlement) *grpc.Server {
	s := grpc.NewServer(grpc.WaitForHandlers(true), grpc.MaxRecvMsgSize(call.MaxMessageSize), grpc.MaxSendMsgSize(call.MaxMessageSize),
		grpc.ForceServerCodecV2(newLenient()))
	settlementpb.RegisterSettlementServer(s, beside)
	return s
}

type grpcEndpoint struct {
	listener net.Listener
	found    chan stream //clock:outside a process dials
	server   *grpc.Server
	serving  sync.WaitGroup //clock:outside the server
}

// eventStream is the service by which workers connect.
type eventStream struct {
	workerpb.UnimplementedFunctionRpcServer
	claim claim
}

// EventStream implements workerpb.FunctionRpcServer. It returns when the worker has
// hung up, or the host has.
func (e *eventStream) EventStream(s workerpb.FunctionRpc_EventStreamServer) error {
	m, err := s.Recv()
	if err != nil {
		return err
	}
	take, err := e.claim(m)
	if err != nil {
		return err
	}
	hungUp := make(chan struct{}) //clock:outside the stream of a process
	var once sync.Once
	take(rpcStream{s}, func() { once.Do(func() { close(hungUp) }) }) //clock:outside the stream of a process
	select {                                                         //clock:outside the stream of a process
	case <-s.Context().Done(): //clock:outside the stream of a process
	case <-hungUp: //clock:outside the stream of a process
	}
	return nil
}

// rpcStream is a stream of gRPC, which gathers messages by itself. It keeps the order of
// queries.
type rpcStream struct {
	workerpb.FunctionRpc_EventStreamServer
}

func (s rpcStream) Send(m *message, _ bool) error {
	return s.FunctionRpc_EventStreamServer.Send(inOrder(m))
}

func (e *grpcEndpoint) addr() *net.TCPAddr { return e.listener.Addr().(*net.TCPAddr) }

func (e *grpcEndpoint) accepted() <-chan stream { return e.found } //clock:outside a process dials

func (e *grpcEndpoint) close() {
	e.server.Stop()
	e.serving.Wait() //clock:outside ends with the server
}
