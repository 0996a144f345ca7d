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
	"google.golang.org/protobuf/proto"
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
	case "version1":
		serve(1, &garbage{})
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

func (g *garbage) Calls(s grpc.BidiStreamingServer[functionpb.HostFrame, functionpb.HandlerFrame]) error {
	for {
		f, err := s.Recv()
		if err != nil {
			return err
		}
		for _, m := range f.GetMessages() {
			if m.GetRequest() == nil && m.GetWoken() == nil {
				continue
			}
			answers, err := g.answers(m)
			if err != nil || answers == nil {
				return err
			}
			for _, a := range answers {
				a.Call = m.GetCall()
			}
			if err := s.Send(&functionpb.HandlerFrame{Messages: answers}); err != nil {
				return err
			}
		}
	}
}

// answers are its answers to a request, or to the end of a sleep. None ends the
// stream.
func (*garbage) answers(m *functionpb.HostMessage) ([]*functionpb.HandlerMessage, error) {
	result := func(r *functionpb.Result) *functionpb.HandlerMessage {
		return &functionpb.HandlerMessage{Content: &functionpb.HandlerMessage_Result{Result: r}}
	}
	piece := func(data []byte) *functionpb.HandlerMessage {
		return &functionpb.HandlerMessage{Content: &functionpb.HandlerMessage_Piece{Piece: &functionpb.Piece{Data: data, Last: true}}}
	}
	one := func(m *functionpb.HandlerMessage) []*functionpb.HandlerMessage {
		return []*functionpb.HandlerMessage{m}
	}
	ok := &functionpb.Result{Status: functionpb.Result_STATUS_SUCCEEDED}
	if m.GetWoken() != nil {
		return one(result(ok)), nil
	}
	switch m.GetRequest().GetFunction() {
	case "good":
		return one(result(ok)), nil
	case "no result":
		return nil, nil
	case "refusal":
		return one(&functionpb.HandlerMessage{Content: &functionpb.HandlerMessage_Refusal{Refusal: &functionpb.Refusal{Reason: "not today"}}}), nil
	case "empty message":
		return one(&functionpb.HandlerMessage{}), nil
	case "torn message":
		return one(piece([]byte{0xff})), nil
	case "piece of a piece":
		raw, err := proto.Marshal(piece(nil))
		return one(piece(raw)), err
	case "status":
		return one(result(&functionpb.Result{Status: 77})), nil
	case "declared":
		return one(result(&functionpb.Result{Error: &functionpb.Error{Declared: &functionpb.Declared{Kind: 9}}})), nil
	case "nested":
		list := &functionpb.Value{Data: &functionpb.Value_Strings{Strings: &functionpb.Values{}}}
		return one(result(&functionpb.Result{ReturnValue: &functionpb.Value{
			Data: &functionpb.Value_Strings{Strings: &functionpb.Values{Values: []*functionpb.Value{list}}},
		}})), nil
	case "grpc error":
		return nil, status.Error(codes.Internal, "something broke")
	case "unimplemented":
		return nil, status.Error(codes.Unimplemented, "no such call")
	case "failure without error":
		return one(result(&functionpb.Result{})), nil
	case "two results":
		return []*functionpb.HandlerMessage{result(ok), result(&functionpb.Result{Status: 77})}, nil
	case "negative sleep":
		sleep := &functionpb.Sleep{Duration: durationpb.New(-5)}
		return one(&functionpb.HandlerMessage{Content: &functionpb.HandlerMessage_Sleep{Sleep: sleep}}), nil
	}
	return nil, status.Error(codes.NotFound, "?")
}
