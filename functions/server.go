package functions

import (
	"context"
	"errors"
	"time"

	"github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

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

// Calls serves all calls until the stream ends, and their contexts with it.
func (s *server) Calls(stream grpc.BidiStreamingServer[functionpb.HostFrame, functionpb.HandlerFrame]) error {
	c := newCalls(stream.Context(), s.app)
	received := make(chan error, 1)
	go func() { // ends with the stream, which ends with this method
		received <- c.receive(stream.Recv)
		c.close()
	}()
	err := c.out.Run(func(frame []*functionpb.HandlerMessage) error {
		return stream.Send(&functionpb.HandlerFrame{Messages: frame})
	})
	if err == nil {
		err = <-received
	}
	return err
}
