package worker

import (
	"net"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

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
	e := &grpcEndpoint{
		listener: l, id: id, found: make(chan stream, 1), //clock:outside a process dials
		server: newServer(beside),
	}
	workerpb.RegisterFunctionRpcServer(e.server, e)
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
	workerpb.UnimplementedFunctionRpcServer
	listener net.Listener
	id       string
	found    chan stream //clock:outside a process dials
	server   *grpc.Server
	serving  sync.WaitGroup //clock:outside the server

	mu    sync.Mutex // guards:
	taken bool       // the worker has come
}

// EventStream implements workerpb.FunctionRpcServer. It returns when the worker has
// hung up, or the endpoint has been closed.
func (e *grpcEndpoint) EventStream(s workerpb.FunctionRpc_EventStreamServer) error {
	m, err := s.Recv()
	if err != nil {
		return err
	}
	if !isStart(m, e.id) {
		return status.Error(codes.InvalidArgument, "the first message must be StartStream, with the worker ID that the host has given")
	}
	e.mu.Lock()
	second := e.taken
	e.taken = true
	e.mu.Unlock()
	if second {
		return status.Error(codes.AlreadyExists, "the worker has a stream already")
	}
	e.found <- rpcStream{s} //clock:outside a process dials
	<-s.Context().Done()    //clock:outside the stream of a process
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
