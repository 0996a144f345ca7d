//clock:outside a worker, which never sees the clock

package worker_test

import (
	"context"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"reflect"
	"strconv"
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/txtar"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/redeliver/redeliver/functions/call"
	"github.com/redeliver/redeliver/host/worker/workerpb"
)

// step is a line of an exchange: who speaks ("host", "worker"), a call of the settlement
// service and its answer ("calls", "answer"), an answer by HTTP ("http"), or the end of the
// process ("exit").
type step struct{ verb, rest string }

// exchanges reads files of testdata/transcripts. One exchange is a section; lines with "#"
// say what it is, those with "want" are for the test.
func exchanges(names ...string) map[string][]step {
	out := map[string][]step{}
	for _, name := range names {
		a, err := txtar.ParseFile("testdata/transcripts/" + name + ".txtar")
		check(err)
		for _, f := range a.Files {
			out[f.Name] = []step{}
			for line := range strings.Lines(string(f.Data)) {
				verb, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
				if verb != "#" && verb != "want" {
					out[f.Name] = append(out[f.Name], step{verb, rest})
				}
			}
		}
	}
	return out
}

// said is what a line of an exchange says, in the call with this id.
func said(s step, id string) *message {
	m := &message{}
	check(protojson.Unmarshal([]byte(strings.ReplaceAll(s.rest, `"invocationId":"ID"`, `"invocationId":"`+id+`"`)), m))
	return m
}

// player is a worker that answers as the real one did: calls by the exchange that has the
// name of their invocation, all else by the exchange of its start.
type player struct {
	conn   *grpc.ClientConn
	stream workerpb.FunctionRpc_EventStreamClient
	all    map[string][]step

	mu       sync.Mutex // guards:
	sessions map[string][]step
	called   map[string]chan struct{} // closed when the call has come
}

// play is the role: the exchange of the start, and the files with it and all others.
func play(role []string) {
	flags := map[string]string{}
	for i := 2; i+1 < len(os.Args); i += 2 { // behind the assembly
		flags[strings.TrimPrefix(os.Args[i], "--")] = os.Args[i+1]
	}
	to, err := url.Parse(flags["functions-uri"])
	check(err)
	p := &player{all: exchanges(role[1:]...), sessions: map[string][]step{}, called: map[string]chan struct{}{}}
	p.conn, err = grpc.NewClient("passthrough:///"+to.Host, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(call.MaxMessageSize), grpc.MaxCallSendMsgSize(call.MaxMessageSize)))
	check(err)
	p.stream, err = workerpb.NewFunctionRpcClient(p.conn).EventStream(context.Background())
	check(err)
	p.say(&message{Content: &workerpb.StreamingMessage_StartStream{StartStream: &workerpb.StartStream{WorkerId: flags["functions-worker-id"]}}})
	p.sessions[""] = p.all[role[0]]
	for {
		m, err := p.stream.Recv()
		if err != nil {
			return
		}
		p.take(m)
	}
}

func (p *player) say(m *message) { check(p.stream.Send(m)) }

// take is a message of the host.
func (p *player) take(m *message) {
	id := ""
	switch {
	case m.GetInvocationRequest() != nil:
		id = m.GetInvocationRequest().GetInvocationId()
		p.mu.Lock()
		p.sessions[id] = p.all[id]
		p.mu.Unlock()
		// What was asked goes back, for the test to see.
		raw, err := protojson.Marshal(m.GetInvocationRequest())
		check(err)
		p.tell(id, string(raw))
		close(p.call(id))
	case m.GetInvocationCancel() != nil:
		id = m.GetInvocationCancel().GetInvocationId()
	case m.GetWorkerTerminate() != nil:
		p.say(&message{RequestId: m.GetRequestId()})
		os.Exit(0)
	case m.GetWorkerStatusRequest() != nil:
		id = "worker-status"
		p.sessions[id] = p.all[id]
	case m.GetFunctionsMetadataRequest() != nil && p.all["metadata-all-kinds"] != nil:
		id = "metadata-all-kinds"
		p.sessions[id] = p.all[id]
	case m.GetFunctionLoadRequest() != nil && p.unlike(m) != "":
		panic(p.unlike(m))
	case m.GetFunctionLoadRequest() != nil && p.all["load-failures"] != nil:
		id = "load-failures"
		p.sessions[id] = p.all[id]
	}
	if !p.follow(id, m) && m.GetFunctionLoadRequest() != nil {
		p.say(&message{Content: &workerpb.StreamingMessage_FunctionLoadResponse{FunctionLoadResponse: &workerpb.FunctionLoadResponse{
			FunctionId: m.GetFunctionLoadRequest().GetFunctionId(), Result: success(),
		}}})
	}
}

// unlike says in what a load differs from the function as the worker has declared it, in
// what the real worker reads of it.
func (p *player) unlike(m *message) string {
	got := m.GetFunctionLoadRequest().GetMetadata()
	for _, s := range p.all["metadata-all-kinds"] {
		for _, f := range said(s, "").GetFunctionMetadataResponse().GetFunctionMetadataResults() {
			if f.GetFunctionId() != m.GetFunctionLoadRequest().GetFunctionId() {
				continue
			}
			for name, b := range f.GetBindings() {
				if !proto.Equal(b, got.GetBindings()[name]) {
					return fmt.Sprintf("%s is loaded with %q as %v, want %v", f.GetName(), name, got.GetBindings()[name], b)
				}
			}
			if f.GetEntryPoint() != got.GetEntryPoint() || f.GetScriptFile() != got.GetScriptFile() || f.GetName() != got.GetName() {
				return fmt.Sprintf("%s is loaded as %v", f.GetName(), got)
			}
		}
	}
	return ""
}

// follow goes on with an exchange at the step of the host that is like m, to its next one.
// It reports false where the record has none.
func (p *player) follow(id string, m *message) bool {
	p.mu.Lock()
	steps := p.sessions[id]
	p.mu.Unlock()
	at := 0
	for at < len(steps) && !(steps[at].verb == "host" && alike(said(steps[at], id), m)) {
		at++
	}
	if at == len(steps) {
		return false
	}
	for at++; at < len(steps) && steps[at].verb != "host"; at++ {
		p.step(id, m, steps[at])
	}
	p.mu.Lock()
	p.sessions[id] = steps[at:]
	p.mu.Unlock()
	return true
}

// alike reports whether the host says the same kind of thing, of the same function.
func alike(a, b *message) bool {
	return reflect.TypeOf(a.GetContent()) == reflect.TypeOf(b.GetContent()) &&
		a.GetFunctionLoadRequest().GetMetadata().GetName() == b.GetFunctionLoadRequest().GetMetadata().GetName()
}

func (p *player) step(id string, m *message, s step) {
	switch s.verb {
	case "worker":
		out := said(s, id)
		out.RequestId = m.GetRequestId()
		if r := out.GetFunctionLoadResponse(); r != nil {
			r.FunctionId = m.GetFunctionLoadRequest().GetFunctionId()
		}
		if can := out.GetWorkerInitResponse().GetCapabilities(); can["HttpUri"] != "" {
			can["HttpUri"] = httptest.NewServer(p).URL
		}
		p.say(out)
	case "calls":
		method, body, _ := strings.Cut(s.rest, " ")
		raw, err := hex.DecodeString(body)
		check(err)
		q, r := &emptypb.Empty{}, &emptypb.Empty{} // all fields are unknown to them, and kept
		check(proto.Unmarshal(raw, q))
		text := status.Code(p.conn.Invoke(context.Background(), "/Settlement/"+method, q, r)).String()
		raw, err = proto.Marshal(r)
		check(err)
		p.tell(id, strings.TrimSpace(method+" "+text+" "+hex.EncodeToString(raw)))
	case "exit":
		code, err := strconv.Atoi(s.rest)
		check(err)
		os.Exit(code)
	}
}

// tell is a line that the real worker does not say.
func (p *player) tell(id, text string) {
	p.say(&message{Content: &workerpb.StreamingMessage_RpcLog{RpcLog: &workerpb.RpcLog{
		InvocationId: id, Category: "player", Level: workerpb.RpcLog_Trace, LogCategory: workerpb.RpcLog_User, Message: "player: " + text,
	}}})
}

func (p *player) call(id string) chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.called[id] == nil {
		p.called[id] = make(chan struct{})
	}
	return p.called[id]
}

// ServeHTTP is a forwarded request: its answer is the "http" line of the exchange.
func (p *player) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	id := r.Header.Get("x-ms-invocation-id")
	<-p.call(id)
	for _, s := range p.all[id] {
		if code, text, _ := strings.Cut(s.rest, " "); s.verb == "http" {
			n, err := strconv.Atoi(code)
			check(err)
			w.WriteHeader(n)
			_, _ = w.Write([]byte(text))
		}
	}
}
