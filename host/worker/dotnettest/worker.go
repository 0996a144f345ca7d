package dotnettest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/redeliver/redeliver/host/worker/workerpb"
)

// Script is worker.json: how the worker answers.
type Script struct {
	// Functions is the FunctionMetadataResponse in proto-JSON.
	Functions json.RawMessage
	// Without are capabilities that the app has switched off.
	Without []string
	// Random has each process invent identifiers, as the worker of an app in F# does.
	Random bool
	// Refuse is a file: while it is there the worker fails its start with what it says, as one
	// that reads the app then.
	Refuse string
	// HTTP has the worker serve HTTP itself, as an app with the ASP.NET Core integration.
	HTTP bool
}

// Capabilities are those of a .NET worker (spec workers-dotnet-java 1.6).
func Capabilities() map[string]string {
	all := map[string]string{}
	for _, name := range []string{
		"RpcHttpBodyOnly", "WorkerStatus", "TypedDataCollection", "RpcHttpTriggerMetadataRemoved", "RawHttpBodyBytes",
		"UseNullableValueDictionaryForHttp", "IncludeEmptyEntriesInMessagePayload", "EnableUserCodeException",
		"HandlesInvocationCancelMessage", "HandlesWorkerTerminateMessage",
	} {
		all[name] = "True"
	}
	return all
}

type message = workerpb.StreamingMessage

// worker is one run of App.dll.
type worker struct {
	script    Script
	root      string
	assembly  string // its text
	functions *workerpb.FunctionMetadataResponse
	conn      *grpc.ClientConn
	stream    workerpb.FunctionRpc_EventStreamClient
	sending   sync.Mutex

	mu       sync.Mutex // guards:
	loaded   map[string]*workerpb.RpcFunctionMetadata
	running  map[string]context.CancelFunc // by invocation
	meetings map[string]*meeting           // by invocation
}

// work is the worker of an assembly. It ends when it is told to, or its stream does.
func work(assembly string, args []string) {
	w := &worker{root: filepath.Dir(assembly), loaded: map[string]*workerpb.RpcFunctionMetadata{}, running: map[string]context.CancelFunc{}, meetings: map[string]*meeting{}}
	text, err := os.ReadFile(assembly)
	if err != nil {
		fmt.Fprintf(os.Stderr, "The application to execute does not exist: '%s'.\n", assembly)
		os.Exit(1)
	}
	w.assembly = string(text)
	raw, err := os.ReadFile(filepath.Join(w.root, "worker.json"))
	if err == nil {
		check(json.Unmarshal(raw, &w.script))
	}
	if strings.EqualFold(os.Getenv("FUNCTIONS_ENABLE_DEBUGGER_WAIT"), "true") {
		fmt.Printf("Azure Functions .NET Worker (PID: %d) initialized in debug mode. Waiting for debugger to attach...\n", os.Getpid())
		if err != nil {
			time.Sleep(time.Hour) // a worker without a script has no debugger either
		}
	}
	w.functions = &workerpb.FunctionMetadataResponse{}
	if len(w.script.Functions) > 0 {
		check(protojson.Unmarshal(w.script.Functions, w.functions))
	}
	w.connect(switches(args))
	for {
		m, err := w.stream.Recv()
		if err != nil {
			select {} // nothing ends the process (spec workers-dotnet-java 1.9)
		}
		w.answer(m)
	}
}

// switches are the arguments, by name. Only those that the real worker reads are kept.
func switches(args []string) map[string]string {
	out := map[string]string{}
	for i := 0; i+1 < len(args); i += 2 {
		if name, ok := strings.CutPrefix(args[i], "--functions-"); ok {
			out[name] = args[i+1]
		}
	}
	return out
}

func (w *worker) connect(flags map[string]string) {
	to, err := url.Parse(flags["uri"])
	check(err)
	size, err := strconv.Atoi(flags["grpc-max-message-length"])
	if err != nil || size <= 0 || to.Scheme != "http" || flags["request-id"] == "" {
		panic(fmt.Sprintf("unusable arguments: %v", flags))
	}
	conn, err := grpc.NewClient("passthrough:///"+to.Host, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(size), grpc.MaxCallSendMsgSize(size)))
	check(err)
	w.conn = conn
	w.stream, err = workerpb.NewFunctionRpcClient(conn).EventStream(context.Background())
	check(err)
	w.say(&message{Content: &workerpb.StreamingMessage_StartStream{StartStream: &workerpb.StartStream{WorkerId: flags["worker-id"]}}})
}

func (w *worker) say(m *message) {
	w.sending.Lock()
	defer w.sending.Unlock()
	_ = w.stream.Send(m)
}

// answer handles the messages that the real worker handles, and drops all others (spec
// workers-dotnet-java 1.6).
func (w *worker) answer(m *message) {
	out := &message{RequestId: m.GetRequestId()}
	switch content := m.GetContent().(type) {
	case *workerpb.StreamingMessage_WorkerInitRequest:
		able := Capabilities()
		if w.script.HTTP {
			able["HttpUri"] = w.serve()
		}
		for _, name := range w.script.Without {
			delete(able, name)
		}
		result := success()
		if text, err := os.ReadFile(w.script.Refuse); err == nil {
			note(w.script.Refuse+".log", "start\n")
			result = failure("ModuleNotFoundError", strings.TrimSpace(string(text)))
		}
		out.Content = &workerpb.StreamingMessage_WorkerInitResponse{WorkerInitResponse: &workerpb.WorkerInitResponse{
			Result: result, Capabilities: able,
			WorkerMetadata: &workerpb.WorkerMetadata{
				RuntimeName: ".NET", RuntimeVersion: "8.0.11", WorkerVersion: "2.0.0", WorkerBitness: "X64",
				CustomProperties: map[string]string{"Worker.Grpc.Version": "2.0.0"},
			},
		}}
	case *workerpb.StreamingMessage_WorkerStatusRequest:
		out.Content = &workerpb.StreamingMessage_WorkerStatusResponse{WorkerStatusResponse: &workerpb.WorkerStatusResponse{}}
	case *workerpb.StreamingMessage_FunctionsMetadataRequest:
		w.identify()
		out.Content = &workerpb.StreamingMessage_FunctionMetadataResponse{FunctionMetadataResponse: w.functions}
	case *workerpb.StreamingMessage_FunctionLoadRequest:
		out.Content = &workerpb.StreamingMessage_FunctionLoadResponse{FunctionLoadResponse: &workerpb.FunctionLoadResponse{
			FunctionId: content.FunctionLoadRequest.GetFunctionId(), Result: w.load(content.FunctionLoadRequest),
		}}
	case *workerpb.StreamingMessage_InvocationRequest:
		// A cancel may be the very next message: the call is tracked before it is read.
		ctx, tracked := w.track(content.InvocationRequest.GetInvocationId())
		go w.invoke(ctx, content.InvocationRequest, tracked)
		return
	case *workerpb.StreamingMessage_InvocationCancel:
		w.mu.Lock()
		if cancel := w.running[content.InvocationCancel.GetInvocationId()]; cancel != nil {
			cancel()
		}
		w.mu.Unlock()
	case *workerpb.StreamingMessage_WorkerTerminate:
		w.say(out) // without content, as after a cancel
		os.Exit(0)
	default:
		return
	}
	w.say(out)
}

// identify gives the functions the identifiers of this process, if they have any.
func (w *worker) identify() {
	if !w.script.Random {
		return
	}
	for _, f := range w.functions.GetFunctionMetadataResults() {
		f.FunctionId = fmt.Sprintf("%s-%d", f.GetName(), os.Getpid())
	}
}

// load is FunctionLoadRequest (spec workers-dotnet-java 1.7).
func (w *worker) load(r *workerpb.FunctionLoadRequest) *workerpb.StatusResult {
	m := r.GetMetadata()
	note(filepath.Join(w.root, "loads.log"), r.GetFunctionId()+"\n")
	app := os.Getenv("FUNCTIONS_APPLICATION_DIRECTORY")
	if app == "" {
		return failure("System.InvalidOperationException", "The 'FUNCTIONS_APPLICATION_DIRECTORY' environment variable value is not defined.")
	}
	if info, err := os.Stat(filepath.Join(app, m.GetScriptFile())); err != nil || info.IsDir() {
		return failure("System.IO.FileNotFoundException", fmt.Sprintf("Could not load file or assembly '%s'.", filepath.Join(app, m.GetScriptFile())))
	}
	if strings.Count(m.GetEntryPoint(), ".") < 2 {
		return failure("System.InvalidOperationException", fmt.Sprintf("Invalid entry point configuration. Entry point: '%s'", m.GetEntryPoint()))
	}
	for _, raw := range m.GetRawBindings() {
		var b struct{ Name, Type, Direction string }
		check(json.Unmarshal([]byte(raw), &b))
		info := m.GetBindings()[b.Name]
		if info == nil || !strings.EqualFold(info.GetType(), b.Type) || !strings.EqualFold(info.GetDirection().String(), b.Direction) {
			return failure("System.InvalidOperationException", fmt.Sprintf("the map of bindings lacks %s", raw))
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.loaded[r.GetFunctionId()] != nil {
		return failure("System.InvalidOperationException", fmt.Sprintf("Unable to load Function. A function with the id '%s' name '%s' already exists.", r.GetFunctionId(), m.GetName()))
	}
	w.loaded[r.GetFunctionId()] = m
	return success()
}

func success() *workerpb.StatusResult {
	return &workerpb.StatusResult{Status: workerpb.StatusResult_Success}
}

func failure(kind, text string) *workerpb.StatusResult {
	return &workerpb.StatusResult{Exception: &workerpb.RpcException{Message: text, Type: kind, Source: "App", IsUserException: true, StackTrace: "   at Shop.Orders.Process() in Orders.cs:line 7"}}
}
