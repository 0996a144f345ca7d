package sidecar_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	api "github.com/redeliver/redeliver/bindings/durable"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/durable"
	"github.com/redeliver/redeliver/host/emulator/durable/plan/notation"
	"github.com/redeliver/redeliver/host/emulator/sidecar"
	pb "github.com/redeliver/redeliver/host/emulator/sidecar/sidecarpb"
	"github.com/redeliver/redeliver/host/hosttest/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// long is 300 activities at a time.
var long = "all[" + strings.Repeat("act A, ", 299) + "act A]" // read only

// orchestrators are those of the app, each with the answers to its turns.
var orchestrators = map[string][]string{ // read only
	"Done":   {"done 7"},
	"Waits":  {"ev go —", "ev go, done 1"},
	"Timer":  {"tim 1h —", "tim 1h, done 1"},
	"Parent": {"sub Waits as kid —", "sub Waits as kid, done 1"},
	"Long":   {long + " —"},
}

// bench is an engine with an app, asked by the client of the service, on a clock that skips
// waiting.
type bench struct {
	pb.TaskHubSidecarServiceClient
	t      *testing.T
	clk    *clock.Virtual
	engine *durable.Engine
	conn   *grpc.ClientConn
	port   int
	group  *clock.Group
	stop   context.CancelFunc
	ctx    context.Context
}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{t: t, clk: clock.NewVirtual(notation.Start, nil)}
	b.clk.Auto()
	b.engine = durable.New(b.clk, &durable.Options{Seed: 1})
	server, err := sidecar.Open(&sidecar.Options{Clock: b.clk, Token: b.token, Hub: func(name string) api.Hub {
		switch name {
		case "gone":
			return nil
		case "":
			name = "TestHub"
		}
		return b.engine.Hub(name)
	}})
	if err != nil {
		t.Fatal(err)
	}
	b.port = server.Port()
	b.conn = b.dial()
	b.TaskHubSidecarServiceClient = pb.NewTaskHubSidecarServiceClient(b.conn)
	b.clk.Do("serve", func() { b.group = b.serve() })
	t.Cleanup(func() {
		_ = b.conn.Close()
		server.Close()
		b.clk.Do("stop", func() {
			b.stop()
			b.group.Wait()
			b.engine.Stop()
		})
		b.clk.Close()
	})
	return b
}

// dial connects to the server.
func (b *bench) dial(opts ...grpc.DialOption) *grpc.ClientConn {
	b.t.Helper()
	conn, err := grpc.NewClient(net.JoinHostPort("127.0.0.1", strconv.Itoa(b.port)), append(opts, grpc.WithTransportCredentials(insecure.NewCredentials()))...)
	if err != nil {
		b.t.Fatal(err)
	}
	return conn
}

// token ends with ctx.
func (b *bench) token(ctx context.Context) (context.Context, func()) {
	token, cancel := b.clk.WithCancel(context.Background())
	left := context.AfterFunc(ctx, func() { b.clk.Inside("left", cancel) })
	return token, func() {
		left()
		cancel()
	}
}

// serve runs the app's functions.
func (b *bench) serve() *clock.Group {
	b.ctx, b.stop = b.clk.WithCancel(context.Background())
	hub, group, known := b.engine.Hub("TestHub"), clock.NewGroup(b.clk, 0), api.Functions{Runtime: "node"}
	for name := range orchestrators {
		known.Known = append(known.Known, api.Function{Kind: api.Orchestrator, Name: name})
	}
	known.Known = append(known.Known, api.Function{Kind: api.Orchestrator, Name: "Fails"}, api.Function{Kind: api.EntityFunction, Name: "counter"}, api.Function{Kind: api.Activities, Name: "A"})
	hub.Serve("app", known)
	for _, f := range known.Known {
		group.Go(f.Name, func() {
			for b.ctx.Err() == nil {
				if f.Kind == api.Activities {
					if a, err := hub.NextActivity(b.ctx, f.Name); err == nil {
						_ = hub.Report(b.ctx, a, api.Reply{Value: "5"})
					}
				} else if turn, err := hub.NextTurn(b.ctx, f); err == nil {
					_ = hub.Finish(b.ctx, turn, answer(turn))
				}
			}
		})
	}
	return group
}

func answer(turn *api.Turn) api.Reply {
	list := orchestrators[turn.Function.Name]
	switch {
	case turn.Function.Kind == api.EntityFunction:
		return count(turn.Request)
	case turn.Function.Name == "Long" && strings.Count(turn.Request, `"EventType":5,`) == 300:
		return notation.Reply(long + ", done 1")
	case list == nil:
		return api.Reply{Failed: true, Message: "boom"}
	}
	return notation.Reply(list[min(turn.Number, len(list))-1])
}

// count is an entity that adds what it is sent, and is gone after "delete".
func count(request string) api.Reply {
	var in struct {
		State *string
		Batch []struct {
			Name  string
			Input *string
		}
	}
	if err := json.Unmarshal([]byte(request), &in); err != nil {
		panic(err)
	}
	n, exists, results := 0, true, []any{}
	if in.State != nil {
		n, _ = strconv.Atoi(*in.State)
	}
	for _, o := range in.Batch {
		if exists = o.Name != "delete"; exists {
			by, _ := strconv.Atoi(*o.Input)
			n += by
		}
		results = append(results, map[string]any{"isError": false, "duration": 0, "startTime": 0, "result": "null"})
	}
	b, err := json.Marshal(map[string]any{"entityExists": exists, "entityState": strconv.Itoa(n), "results": results, "signals": []any{}})
	if err != nil {
		panic(err)
	}
	return api.Reply{Value: string(b)}
}

// start starts an instance.
func (b *bench) start(name, id string) {
	b.t.Helper()
	if _, err := b.StartInstance(b.t.Context(), &pb.CreateInstanceRequest{Name: name, InstanceId: id}); err != nil {
		b.t.Fatal(err)
	}
}

// begun waits until an instance has begun, with end until it has ended, and shows it.
func (b *bench) begun(id string, end bool) *pb.OrchestrationState {
	b.t.Helper()
	f := b.WaitForInstanceStart
	if end {
		f = b.WaitForInstanceCompletion
	}
	r, err := f(b.t.Context(), &pb.GetInstanceRequest{InstanceId: id, GetInputsAndOutputs: true})
	if err != nil || !r.GetExists() {
		b.t.Fatalf("%s: %v, %v", id, r, err)
	}
	return r.GetState()
}

// said is an error as code and text.
func said(err error) string {
	if err == nil {
		return ""
	}
	return fmt.Sprintf("%s: %s", status.Code(err), status.Convert(err).Message())
}

// within is a context that ends after real time.
func (b *bench) within(d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(b.t.Context(), d)
	b.t.Cleanup(cancel)
	return ctx
}
