//clock:outside a worker, which never sees the clock

package worker_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/redeliver/redeliver/functions/call"
	"github.com/redeliver/redeliver/host/worker/dotnettest"
	"github.com/redeliver/redeliver/host/worker/workerpb"
)

// roleVariable makes the test binary a worker: "grpc" or "lines", and what is odd about
// it.
const roleVariable = "REDELIVER_WORKER_TEST_ROLE"

func TestMain(m *testing.M) {
	if role := os.Getenv(roleVariable); role == "dotnet" {
		dotnettest.Main()
		return
	} else if role != "" {
		act(strings.Fields(role))
		return
	}
	os.Exit(m.Run())
}

type message = workerpb.StreamingMessage

// actor is a worker that does what its role and the names of functions say.
type actor struct {
	odd     []string
	asked   bool // for its functions
	sendMu  sync.Mutex
	send    func(*message) error
	raw     func([]byte) // sends what may be no message
	recv    func() (*message, error)
	hangUp  func()
	dialled *grpc.ClientConn
	port    string // of the host's endpoint
	meets   meetings

	mu      sync.Mutex
	cancels map[string]chan struct{}
}

func act(role []string) {
	transport := role[0]
	switch transport {
	case "host":
		runHost(role[1])
		return
	case "player":
		play(role[1:])
		return
	}
	a := &actor{odd: role, cancels: map[string]chan struct{}{}}
	flags := map[string]string{}
	args := os.Args[1:]
	for i := 0; i+1 < len(args); i++ {
		if name, ok := strings.CutPrefix(args[i], "--"); ok {
			flags[name] = args[i+1]
		}
	}
	switch {
	case a.is("exits"):
		fmt.Fprintln(os.Stderr, "error: no such module")
		os.Exit(3)
	case a.is("exitsWell"):
		os.Exit(0)
	case a.is("silent"), a.is("silentAgain") && a.again():
		fmt.Println("silent")
		select {}
	}
	id := flags["workerId"]
	a.port = flags["port"]
	if transport == "grpc" {
		to, err := url.Parse(flags["functions-uri"])
		check(err)
		conn, err := grpc.NewClient("passthrough:///"+to.Host, grpc.WithTransportCredentials(insecure.NewCredentials()),
			grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(call.MaxMessageSize), grpc.MaxCallSendMsgSize(call.MaxMessageSize), grpc.ForceCodecV2(rawCodec{encoding.GetCodecV2("proto")})))
		check(err)
		stream, err := workerpb.NewFunctionRpcClient(conn).EventStream(context.Background())
		check(err)
		a.send, a.recv, id = stream.Send, stream.Recv, flags["functions-worker-id"]
		a.raw = func(b []byte) { check(stream.SendMsg(b)) }
		a.hangUp, a.dialled = func() { _ = conn.Close() }, conn
	} else {
		if a.is("stranger") { // somebody else comes first
			nc, err := net.Dial("tcp", net.JoinHostPort(flags["host"], flags["port"]))
			check(err)
			_, _ = io.WriteString(nc, `{"startStream":{"workerId":"somebody"}}`+"\n")
			_, err = nc.Read(make([]byte, 1))
			if !errors.Is(err, io.EOF) {
				panic(fmt.Sprint("the stranger was not sent away: ", err))
			}
		}
		if a.is("flooder") { // somebody else comes first, and does not end
			nc, err := net.Dial("tcp", net.JoinHostPort(flags["host"], flags["port"]))
			check(err)
			for sent := 0; err == nil; sent++ {
				if _, err = nc.Write(make([]byte, 1<<20)); sent > 64 {
					panic("the flooder was not sent away")
				}
			}
		}
		nc, err := net.Dial("tcp", net.JoinHostPort(flags["host"], flags["port"]))
		check(err)
		in := bufio.NewReader(nc)
		a.dialled, err = grpc.NewClient("passthrough:///"+net.JoinHostPort(flags["host"], flags["port"]), grpc.WithTransportCredentials(insecure.NewCredentials()))
		check(err)
		a.hangUp = func() { _ = nc.Close() }
		a.raw = func(b []byte) {
			_, err := nc.Write(append(b, '\n'))
			check(err)
		}
		a.send = func(m *message) error {
			line, err := protojson.Marshal(m)
			check(err)
			_, err = nc.Write(append(line, '\n'))
			return err
		}
		a.recv = func() (*message, error) {
			line, err := in.ReadBytes('\n')
			if err != nil {
				return nil, err
			}
			m := &message{}
			return m, protojson.Unmarshal(line, m)
		}
	}
	if flags["requestId"] == "" || flags["functions-request-id"] != flags["requestId"] || flags["grpcMaxMessageLength"] != flags["functions-grpc-max-message-length"] {
		panic(fmt.Sprintf("arguments: %q", args))
	}
	a.say(&message{Content: &workerpb.StreamingMessage_StartStream{StartStream: &workerpb.StartStream{WorkerId: id}}})
	for {
		m, err := a.recv()
		if err != nil && a.is("lingers") {
			select {}
		}
		if err != nil {
			return
		}
		a.answer(m)
	}
}

// rawCodec sends bytes as they are.
type rawCodec struct{ encoding.CodecV2 }

func (c rawCodec) Marshal(v any) (mem.BufferSlice, error) {
	if b, ok := v.([]byte); ok {
		return mem.BufferSlice{mem.SliceBuffer(b)}, nil
	}
	return c.CodecV2.Marshal(v)
}

// sayOdd says a message with something in the place of each "HALF" that has no form in
// UTF-8, or something odd in the place of a number.
func (a *actor) sayOdd(m *message, old, odd string) {
	a.sendMu.Lock()
	defer a.sendMu.Unlock()
	var b []byte
	var err error
	if a.is("lines") {
		b, err = protojson.Marshal(m)
		b = bytes.ReplaceAll(b, []byte("HALF"), []byte(`\ud800`))
	} else {
		b, err = proto.Marshal(m)
		b = bytes.ReplaceAll(b, []byte("HALF"), []byte("\xed\xa0\x80!"))
	}
	check(err)
	a.raw(bytes.ReplaceAll(b, []byte(old), []byte(odd)))
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func isClosed(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// markVariable names a file that the first process makes.
const markVariable = "REDELIVER_WORKER_TEST_MARK"

// again reports whether this is not the first process.
func (a *actor) again() bool {
	f, err := os.OpenFile(os.Getenv(markVariable), os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		_ = f.Close()
	}
	return errors.Is(err, os.ErrExist)
}

func (a *actor) is(odd string) bool { return slices.Contains(a.odd, odd) }

func (a *actor) say(m *message) {
	a.sendMu.Lock()
	defer a.sendMu.Unlock()
	_ = a.send(m)
}

func success() *workerpb.StatusResult {
	return &workerpb.StatusResult{Status: workerpb.StatusResult_Success}
}

func failure(text string) *workerpb.StatusResult {
	return &workerpb.StatusResult{Exception: &workerpb.RpcException{Message: text, Type: "TypeError", StackTrace: "at somewhere"}}
}

func (a *actor) answer(m *message) {
	if d, ok := a.dialect(); ok {
		d.takes(m)
	}
	switch {
	case m.GetWorkerInitRequest() != nil && a.is("mute"), m.GetFunctionsMetadataRequest() != nil && a.is("muteFunctions"),
		m.GetFunctionLoadRequest() != nil && a.is("muteLoad"):
		fmt.Println("silent")
	case m.GetWorkerInitRequest() != nil:
		r := &workerpb.WorkerInitResponse{Result: success(), Capabilities: map[string]string{
			"TypedDataCollection": "true", "RpcHttpBodyOnly": "true", "RawHttpBodyBytes": "true", "WorkerStatus": "true",
			"HandlesWorkerTerminateMessage": "true", "IncludeEmptyEntriesInMessagePayload": "true",
		}}
		if d, ok := a.dialect(); ok {
			r.Capabilities = d.able()
		}
		if a.is("newer") {
			r.AppCapabilities = map[string]string{"anything": "true"}
		}
		if a.is("cancels") {
			r.Capabilities["HandlesInvocationCancelMessage"] = "true"
		}
		if a.is("collection") {
			r.Capabilities["SupportsLoadResponseCollection"] = "true"
		}
		if a.is("serves") || a.is("servesLate") || a.is("servesNobody") {
			r.Capabilities["HttpUri"] = a.serve()
			if a.is("params") {
				r.Capabilities["RequiresRouteParameters"] = "true"
			}
		}
		if a.is("refuses") {
			r.Result = failure("this version of the interpreter is too old")
		}
		a.say(&message{Content: &workerpb.StreamingMessage_WorkerInitResponse{WorkerInitResponse: r}})
	case m.GetFunctionsMetadataRequest() != nil:
		a.asked = true
		a.say(&message{Content: &workerpb.StreamingMessage_FunctionMetadataResponse{FunctionMetadataResponse: a.metadata()}})
	case m.GetFunctionLoadRequest() != nil && a.is("exitsOnLoad"):
		os.Exit(7)
	case m.GetFunctionLoadRequest() != nil:
		a.say(&message{Content: &workerpb.StreamingMessage_FunctionLoadResponse{FunctionLoadResponse: a.load(m.GetFunctionLoadRequest())}})
	case m.GetFunctionLoadRequestCollection() != nil:
		out := &workerpb.FunctionLoadResponseCollection{}
		for _, r := range m.GetFunctionLoadRequestCollection().GetFunctionLoadRequests() {
			out.FunctionLoadResponses = append(out.FunctionLoadResponses, a.load(r))
		}
		a.say(&message{Content: &workerpb.StreamingMessage_FunctionLoadResponseCollection{FunctionLoadResponseCollection: out}})
	case m.GetWorkerStatusRequest() != nil:
		a.say(&message{RequestId: m.GetRequestId(), Content: &workerpb.StreamingMessage_WorkerStatusResponse{WorkerStatusResponse: &workerpb.WorkerStatusResponse{}}})
	case m.GetInvocationRequest() != nil:
		go a.invoke(m.GetInvocationRequest())
	case m.GetInvocationCancel() != nil:
		switch c := a.cancelled(m.GetInvocationCancel().GetInvocationId()); {
		case isClosed(c): // a call is cancelled once, or more often
		default:
			close(c)
		}
	case m.GetWorkerTerminate() != nil:
		fmt.Println("terminating")
		os.Exit(0)
	}
}

// cancelled is closed when a call is cancelled, which may be before the call asks.
func (a *actor) cancelled(id string) chan struct{} {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.cancels[id] == nil {
		a.cancels[id] = make(chan struct{})
	}
	return a.cancels[id]
}

func (a *actor) metadata() *workerpb.FunctionMetadataResponse {
	switch {
	case a.is("complains"):
		a.log("", "cannot load app.js: unexpected token", workerpb.RpcLog_Error, workerpb.RpcLog_System)
		return &workerpb.FunctionMetadataResponse{Result: success(), UseDefaultMetadataIndexing: true}
	case a.is("files"):
		return &workerpb.FunctionMetadataResponse{Result: success(), UseDefaultMetadataIndexing: true}
	case a.is("broken"):
		return &workerpb.FunctionMetadataResponse{Result: failure("app.js: unexpected token")}
	}
	queue := func(name string) *workerpb.RpcFunctionMetadata {
		return &workerpb.RpcFunctionMetadata{
			Name: name, FunctionId: "id of " + name,
			RawBindings: []string{
				`{"type":"queue","direction":"OUT","name":"out","queueName":"done"}`,
				`{"type":"queueTrigger","direction":"IN","dataType":"STRING","name":"in","queueName":"orders"}`,
			},
		}
	}
	fixed, exponential := queue("Fixed"), queue("Exponential")
	fixed.RetryOptions = &workerpb.RpcRetryOptions{
		MaxRetryCount: 4, RetryStrategy: workerpb.RpcRetryOptions_fixed_delay, DelayInterval: durationpb.New(10 * time.Second),
	}
	exponential.RetryOptions = &workerpb.RpcRetryOptions{
		MaxRetryCount: -1, MinimumInterval: durationpb.New(time.Second), MaximumInterval: durationpb.New(time.Minute),
	}
	return &workerpb.FunctionMetadataResponse{Result: success(), FunctionMetadataResults: []*workerpb.RpcFunctionMetadata{queue("Plain"), fixed, exponential}}
}

func (a *actor) load(r *workerpb.FunctionLoadRequest) *workerpb.FunctionLoadResponse {
	out := &workerpb.FunctionLoadResponse{FunctionId: r.GetFunctionId(), Result: success()}
	switch m := r.GetMetadata(); {
	case m.GetName() == "Unloadable":
		out.Result = failure("unexpected token in " + m.GetScriptFile())
	case m.GetName() == "Plain" && (!a.asked || r.GetFunctionId() != "id of Plain"):
		out.Result = failure("it has not been declared by that ID")
	case m.GetName() == "Silent":
		out.Result = nil // a forgotten result is a failure
	case m.GetBindings()["in"].GetType() != "queueTrigger" || m.GetFunctionId() != r.GetFunctionId():
		out.Result = failure(fmt.Sprint("metadata: ", m))
	}
	return out
}

func (a *actor) log(id, text string, level workerpb.RpcLog_Level, category workerpb.RpcLog_RpcLogCategory) {
	a.say(&message{Content: &workerpb.StreamingMessage_RpcLog{RpcLog: &workerpb.RpcLog{InvocationId: id, Message: text, Level: level, LogCategory: category}}})
}

func (a *actor) invoke(r *workerpb.InvocationRequest) {
	out := &workerpb.InvocationResponse{InvocationId: r.GetInvocationId(), Result: success()}
	name := strings.TrimPrefix(r.GetFunctionId(), "id of ")
	in := r.GetInputData()[0].GetData()
	set := func(name string, v *workerpb.TypedData) {
		out.OutputData = append(out.OutputData, &workerpb.ParameterBinding{Name: name, RpcData: &workerpb.ParameterBinding_Data{Data: v}})
	}
	text := func(s string) *workerpb.TypedData {
		return &workerpb.TypedData{Data: &workerpb.TypedData_String_{String_: s}}
	}
	if h := in.GetHttp(); h != nil && name != "Show" {
		out.Result = a.meets.of(r.GetInvocationId()).called(h)
		a.say(&message{Content: &workerpb.StreamingMessage_InvocationResponse{InvocationResponse: out}})
		return
	}
	switch name {
	case "Echo":
		set("out", in)
		set("nobody's", text("x"))
	case "Show", "ShowEvents":
		set("out", show(in))
	case "Aside":
		a.log("N/A", "beside the call", workerpb.RpcLog_Information, workerpb.RpcLog_User)
	case "Unset":
		set("out", &workerpb.TypedData{})
	case "Retry":
		seen := "none"
		if rc := r.GetRetryContext(); rc != nil {
			seen = fmt.Sprintf("%d/%d %q", rc.GetRetryCount(), rc.GetMaxRetryCount(), rc.GetException().GetMessage())
		}
		set("out", text(seen))
	case "Traced":
		out.TraceContextAttributes = map[string]string{"shop.order": "7", "": "ü"}
		if in.GetString_() != "" {
			out.Result = failure(in.GetString_())
		}
	case "Metadata":
		set("out", text(r.GetTriggerMetadata()["DequeueCount"].String()))
	case "Return":
		out.ReturnValue = in
	case "Fail":
		out.Result = failure(in.GetString_())
		set("out", in)
	case "Forgotten":
		out.Result = nil
	case "Log":
		n, _ := strconv.Atoi(in.GetString_())
		for i := range n {
			a.log(r.GetInvocationId(), strconv.Itoa(i), workerpb.RpcLog_Level(i%6), workerpb.RpcLog_User)
			a.log(r.GetInvocationId(), "chatter", workerpb.RpcLog_Information, workerpb.RpcLog_System)
		}
		a.log("", "of no invocation", workerpb.RpcLog_Warning, workerpb.RpcLog_User)
	case "Odd":
		a.sayOdd(&message{Content: &workerpb.StreamingMessage_RpcLog{RpcLog: &workerpb.RpcLog{
			InvocationId: r.GetInvocationId(), Message: "said HALF", Level: workerpb.RpcLog_Information, LogCategory: workerpb.RpcLog_User,
		}}}, "HALF", "")
		set("out", text("HALF"))
		a.sayOdd(&message{Content: &workerpb.StreamingMessage_InvocationResponse{InvocationResponse: out}}, "HALF", "")
		return
	case "OddNumber":
		set("out", &workerpb.TypedData{Data: &workerpb.TypedData_Int{Int: 1234567}})
		a.sayOdd(&message{Content: &workerpb.StreamingMessage_InvocationResponse{InvocationResponse: out}}, "1234567", "1e30")
		return
	case "Garbage":
		set("out", &workerpb.TypedData{Data: &workerpb.TypedData_Json{Json: "{"}})
	case "Exit":
		os.Exit(7)
	case "Hang":
		a.log(r.GetInvocationId(), "hanging", workerpb.RpcLog_Information, workerpb.RpcLog_User)
		<-a.cancelled(r.GetInvocationId())
		out.Result = &workerpb.StatusResult{Status: workerpb.StatusResult_Cancelled}
	case "HangUp":
		a.say(&message{Content: &workerpb.StreamingMessage_InvocationResponse{InvocationResponse: out}})
		a.hangUp()
		return
	case "Settle":
		set("out", text(a.settle(in.GetString_())))
	case "Address":
		set("out", text(a.port))
	case "Cloud":
		set("out", text(os.Getenv("CONTAINER_NAME")+os.Getenv("WEBSITE_INSTANCE_ID")+os.Getenv("WEBSITE_PLACEHOLDER_MODE")+os.Getenv("KEPT")))
	case "PID":
		set("out", text(strconv.Itoa(os.Getpid())))
	}
	a.say(&message{Content: &workerpb.StreamingMessage_InvocationResponse{InvocationResponse: out}})
}
