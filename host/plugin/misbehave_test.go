//clock:outside the program of a handler process

package plugin_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"os/signal"

	"github.com/hashicorp/go-hclog"
	goplugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/redeliver/redeliver/functions/call"
	"github.com/redeliver/redeliver/functions/functionpb"
)

// misbehave is the program of a handler that does something wrong.
func misbehave(role string) {
	switch role {
	case "exits":
		fmt.Fprintln(os.Stderr, "first line")
		log.Fatal("cannot open the database")
	case "prints":
		fmt.Println("starting up ...")
		select {}
	case "serves":
		log.Print("listening on :8080")
		fmt.Print("GET /health")
		select {}
	case "silent":
		c := make(chan os.Signal, 1)
		signal.Notify(c)
		for range c {
		}
	case "version9":
		serve(9, &garbage{})
	case "garbage":
		serve(call.ProtocolVersion, &garbage{})
	}
}

func serve(version int, s functionpb.HandlerServer) {
	goplugin.Serve(&goplugin.ServeConfig{
		HandshakeConfig: goplugin.HandshakeConfig{
			ProtocolVersion: uint(version), MagicCookieKey: call.CookieKey, MagicCookieValue: call.CookieValue,
		},
		VersionedPlugins: map[int]goplugin.PluginSet{version: {call.PluginName: &rawPlugin{server: s}}},
		GRPCServer:       goplugin.DefaultGRPCServer,
		Logger:           hclog.NewNullLogger(),
	})
}

type rawPlugin struct {
	goplugin.NetRPCUnsupportedPlugin
	server functionpb.HandlerServer
}

func (p *rawPlugin) GRPCServer(_ *goplugin.GRPCBroker, s *grpc.Server) error {
	functionpb.RegisterHandlerServer(s, p.server)
	return nil
}

func (p *rawPlugin) GRPCClient(context.Context, *goplugin.GRPCBroker, *grpc.ClientConn) (any, error) {
	return nil, nil
}

// garbage answers calls in breach of the protocol; the function's name says how.
type garbage struct {
	functionpb.UnimplementedHandlerServer
}

func (*garbage) Describe(context.Context, *functionpb.DescribeRequest) (*functionpb.DescribeResponse, error) {
	return &functionpb.DescribeResponse{Functions: []*functionpb.Declaration{{Name: "x", Bindings: []string{"[]"}}}}, nil
}

func (*garbage) Invoke(s grpc.BidiStreamingServer[functionpb.HostMessage, functionpb.HandlerMessage]) error {
	m, err := s.Recv()
	if err != nil {
		return err
	}
	result := func(r *functionpb.Result) error {
		return s.Send(&functionpb.HandlerMessage{Content: &functionpb.HandlerMessage_Result{Result: r}})
	}
	ok := &functionpb.Result{Status: functionpb.Result_STATUS_SUCCEEDED}
	switch m.GetRequest().GetFunction() {
	case "good":
		return result(ok)
	case "no result":
		return nil
	case "empty message":
		return s.Send(&functionpb.HandlerMessage{})
	case "status":
		return result(&functionpb.Result{Status: 77})
	case "declared":
		return result(&functionpb.Result{Error: &functionpb.Error{Declared: &functionpb.Declared{Kind: 9}}})
	case "nested":
		list := &functionpb.Value{Data: &functionpb.Value_Strings{Strings: &functionpb.Values{}}}
		return result(&functionpb.Result{ReturnValue: &functionpb.Value{
			Data: &functionpb.Value_Strings{Strings: &functionpb.Values{Values: []*functionpb.Value{list}}},
		}})
	case "grpc error":
		return status.Error(codes.Internal, "something broke")
	case "unimplemented":
		return status.Error(codes.Unimplemented, "no such call")
	case "failure without error":
		return result(&functionpb.Result{})
	case "two results":
		if err := result(ok); err != nil {
			return err
		}
		return result(&functionpb.Result{Status: 77})
	case "negative sleep":
		sleep := &functionpb.Sleep{Duration: durationpb.New(-5)}
		if err := s.Send(&functionpb.HandlerMessage{Content: &functionpb.HandlerMessage_Sleep{Sleep: sleep}}); err != nil {
			return err
		}
		if _, err := s.Recv(); err != nil {
			return err
		}
		return result(ok)
	}
	return status.Error(codes.NotFound, "?")
}
