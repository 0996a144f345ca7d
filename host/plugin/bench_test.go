//clock:outside measures real time against code without the clock

package plugin_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/hashicorp/go-hclog"
	goplugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"
	"google.golang.org/grpc/health/grpc_health_v1"

	"github.com/redeliver/redeliver/functions/call"
	"github.com/redeliver/redeliver/functions/functionpb"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/process"
)

// The three benchmarks measure the same process: Invoke through the host's code
// and clock, BareHandler the same stream without either, Unary the plainest
// call that a go-plugin process can serve. Run them together:
//
//	go test -run '^$' -bench . ./host/plugin

var concurrency = [...]int{1, 16, 64}

// spread runs n calls in c goroutines.
func spread(b *testing.B, c int, one func() error) {
	b.ReportAllocs()
	b.ResetTimer()
	var left atomic.Int64
	left.Store(int64(b.N))
	var wg sync.WaitGroup
	for range c {
		wg.Go(func() {
			for left.Add(-1) >= 0 {
				if err := one(); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "calls/s")
}

func benchRequest() *call.Request {
	r := request("Nothing", `{"id":"7"}`)
	r.Function = "Odd"
	r.Outputs = []string{"text", "null", "json", "list", "kind"}
	return r
}

func BenchmarkInvoke(b *testing.B) {
	for _, c := range concurrency {
		for _, kind := range []string{"Virtual", "Arrival", "System"} {
			b.Run(fmt.Sprintf("%s/%d", kind, c), func(b *testing.B) {
				clk := clock.System()
				do := func(f func()) { f() }
				if kind != "System" {
					// Virtual keeps calls in order, for tests; a running host uses
					// Arrival.
					v := clock.NewVirtual(clk.Now(), &clock.VirtualOptions{Arrival: kind == "Arrival"})
					clk, do = v, func(f func()) { v.Do("benchmark", f) }
				}
				do(func() {
					h, err := startSpec(clk, process.Spec{Path: os.Args[0], Env: environ("handler")})
					if err != nil {
						b.Error(err)
						return
					}
					req := benchRequest()
					// An attempt has a timeout as a rule.
					ctx, cancel := clk.WithTimeout(context.Background(), 1<<40)
					defer cancel()
					b.ReportAllocs()
					b.ResetTimer()
					g := clock.NewGroup(clk, 0)
					left := atomic.Int64{}
					left.Store(int64(b.N))
					for range c {
						g.Go("caller", func() {
							for left.Add(-1) >= 0 {
								resp, err := h.Invoke(ctx, req, nolog)
								if err != nil || resp.Status != call.Succeeded {
									b.Errorf("Invoke: %+v, %v", resp, err)
									return
								}
							}
						})
					}
					g.Wait()
					b.StopTimer()
					b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "calls/s")
					if err := h.Close(context.Background()); err != nil {
						b.Error(err)
					}
				})
			})
		}
	}
}

// dispenser hands out the bare connection.
type dispenser struct {
	goplugin.NetRPCUnsupportedPlugin
}

func (dispenser) GRPCServer(*goplugin.GRPCBroker, *grpc.Server) error { return nil }

func (dispenser) GRPCClient(_ context.Context, _ *goplugin.GRPCBroker, conn *grpc.ClientConn) (any, error) {
	return conn, nil
}

// dial starts the handler process through plain go-plugin.
func dial(b *testing.B) *grpc.ClientConn {
	cmd := exec.Command(os.Args[0])
	cmd.Env = environ("handler")
	client := goplugin.NewClient(&goplugin.ClientConfig{
		HandshakeConfig:  goplugin.HandshakeConfig{ProtocolVersion: call.ProtocolVersion, MagicCookieKey: call.CookieKey, MagicCookieValue: call.CookieValue},
		VersionedPlugins: map[int]goplugin.PluginSet{call.ProtocolVersion: {call.PluginName: dispenser{}}},
		AllowedProtocols: []goplugin.Protocol{goplugin.ProtocolGRPC},
		Cmd:              cmd,
		Logger:           hclog.NewNullLogger(),
	})
	b.Cleanup(client.Kill)
	protocol, err := client.Client()
	if err != nil {
		b.Fatal(err)
	}
	conn, err := protocol.Dispense(call.PluginName)
	if err != nil {
		b.Fatal(err)
	}
	return conn.(*grpc.ClientConn)
}

// bare calls handlers over the stream of calls, with nothing around it.
type bare struct {
	out *call.Outbox[*functionpb.HostMessage]

	mu      sync.Mutex // guards:
	last    uint64
	waiting map[uint64]chan *functionpb.HandlerMessage
}

func newBare(b *testing.B) *bare {
	stream, err := functionpb.NewHandlerClient(dial(b)).Calls(context.Background())
	if err != nil {
		b.Fatal(err)
	}
	s := &bare{out: call.NewOutbox[*functionpb.HostMessage](nil), waiting: map[uint64]chan *functionpb.HandlerMessage{}}
	go func() {
		_ = s.out.Run(func(frame []*functionpb.HostMessage) error {
			return stream.Send(&functionpb.HostFrame{Messages: frame})
		})
	}()
	go func() {
		for {
			frame, err := stream.Recv()
			if err != nil {
				return
			}
			s.mu.Lock()
			for _, m := range frame.GetMessages() {
				s.waiting[m.GetCall()] <- m
				delete(s.waiting, m.GetCall())
			}
			s.mu.Unlock()
		}
	}()
	return s
}

func (s *bare) call(request *functionpb.Request) (*functionpb.HandlerMessage, error) {
	answer := make(chan *functionpb.HandlerMessage, 1)
	s.mu.Lock()
	s.last++
	m := &functionpb.HostMessage{Call: s.last, Content: &functionpb.HostMessage_Request{Request: request}}
	s.waiting[s.last] = answer
	s.mu.Unlock()
	if err := s.out.Put(m); err != nil {
		return nil, err
	}
	return <-answer, nil
}

func BenchmarkBareHandler(b *testing.B) {
	for _, c := range concurrency {
		b.Run(fmt.Sprint(c), func(b *testing.B) {
			s := newBare(b)
			defer s.out.Close()
			request := call.RequestToProto(benchRequest())
			spread(b, c, func() error {
				m, err := s.call(request)
				if err == nil && m.GetResult().GetStatus() != functionpb.Result_STATUS_SUCCEEDED {
					return fmt.Errorf("result %v", m)
				}
				return err
			})
		})
	}
}

func BenchmarkUnary(b *testing.B) {
	for _, c := range concurrency {
		b.Run(fmt.Sprint(c), func(b *testing.B) {
			stub := grpc_health_v1.NewHealthClient(dial(b))
			req := &grpc_health_v1.HealthCheckRequest{Service: goplugin.GRPCServiceName}
			spread(b, c, func() error {
				_, err := stub.Check(context.Background(), req)
				return err
			})
		})
	}
}
