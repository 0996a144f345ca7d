package dotnettest

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/redeliver/redeliver/host/worker/workerpb"
)

// powershellWorker is the assembly of the platform's worker for PowerShell.
const powershellWorker = "Microsoft.Azure.Functions.PowerShellWorker.dll"

// workPowerShell is that worker, as far as a host sees it (spec workers-dotnet-java 3): the
// capabilities that it lacks decide what must not be sent. It refuses what the real one does
// not understand by ending, and leaves the end to the host.
func workPowerShell(assembly string, args []string) {
	w := &worker{root: os.Getenv("FUNCTIONS_APPLICATION_DIRECTORY"), loaded: map[string]*workerpb.RpcFunctionMetadata{}}
	version := filepath.Base(filepath.Dir(assembly))
	if os.Getenv("FUNCTIONS_WORKER_RUNTIME_VERSION") != version || os.Getenv("FUNCTIONS_WORKER_DIRECTORY") != filepath.Dir(filepath.Dir(assembly)) {
		panic(fmt.Sprintf("%s is started as version %q", assembly, os.Getenv("FUNCTIONS_WORKER_RUNTIME_VERSION")))
	}
	w.connect(switches(args))
	for {
		m, err := w.stream.Recv()
		if err != nil {
			select {} // the host kills it
		}
		out := &message{RequestId: m.GetRequestId()}
		switch content := m.GetContent().(type) {
		case *workerpb.StreamingMessage_WorkerInitRequest:
			out.Content = &workerpb.StreamingMessage_WorkerInitResponse{WorkerInitResponse: &workerpb.WorkerInitResponse{
				Result: success(), Capabilities: map[string]string{"RpcHttpBodyOnly": "true", "WorkerStatus": "true"},
			}}
		case *workerpb.StreamingMessage_WorkerStatusRequest:
			out.Content = &workerpb.StreamingMessage_WorkerStatusResponse{WorkerStatusResponse: &workerpb.WorkerStatusResponse{}}
		case *workerpb.StreamingMessage_FunctionLoadRequest:
			out.Content = &workerpb.StreamingMessage_FunctionLoadResponse{FunctionLoadResponse: &workerpb.FunctionLoadResponse{
				FunctionId: content.FunctionLoadRequest.GetFunctionId(), Result: w.loadScript(content.FunctionLoadRequest),
			}}
		case *workerpb.StreamingMessage_InvocationRequest:
			go w.runScript(content.InvocationRequest)
			continue
		default:
			fmt.Fprintf(os.Stderr, "error: a message of the kind %T\n", content)
			os.Exit(9)
		}
		w.say(out)
	}
}

// loadScript is FunctionLoadRequest: the script is there, and its folder is below the app's.
func (w *worker) loadScript(r *workerpb.FunctionLoadRequest) *workerpb.StatusResult {
	m := r.GetMetadata()
	if _, err := os.Stat(m.GetScriptFile()); err != nil || !filepath.IsAbs(m.GetScriptFile()) || filepath.Dir(m.GetDirectory()) != w.root {
		return failure("System.ArgumentException", fmt.Sprintf("no script %q of the folder %q", m.GetScriptFile(), m.GetDirectory()))
	}
	for name, b := range m.GetBindings() {
		if b.GetDirection() == workerpb.BindingInfo_inout {
			return failure("System.InvalidOperationException", fmt.Sprintf("the binding %s has the direction InOut", name))
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.loaded[r.GetFunctionId()] = m
	// A module that writes when it is loaded belongs to no call.
	w.log("N/A", workerpb.RpcLog_Information, "", "", fmt.Sprintf("profile.ps1: %s, managed dependencies %t", m.GetName(), r.GetManagedDependencyEnabled()), nil)
	return success()
}

// runScript is one call. The first output is what it was given; the others are not set, and
// sent all the same.
func (w *worker) runScript(r *workerpb.InvocationRequest) {
	w.mu.Lock()
	m := w.loaded[r.GetFunctionId()]
	w.mu.Unlock()
	out := &workerpb.InvocationResponse{InvocationId: r.GetInvocationId(), Result: success()}
	seen, text := scriptValues(r)
	var in input
	_ = json.Unmarshal([]byte(text), &in) // another text asks for nothing
	w.log(r.GetInvocationId(), workerpb.RpcLog_Information, "", "", "seen "+seen, nil)
	if in.Fail || strings.Contains(seen, "!") {
		out.Result = failure("System.Management.Automation.RuntimeException", "no such order")
	}
	for _, name := range slices.Sorted(maps.Keys(m.GetBindings())) {
		if m.GetBindings()[name].GetDirection() != workerpb.BindingInfo_out {
			continue
		}
		data := &workerpb.TypedData{}
		if m.GetBindings()[name].GetType() == "http" {
			data.Data = &workerpb.TypedData_Http{Http: &workerpb.RpcHttp{
				StatusCode: "202", Headers: map[string]string{"content-type": "text/plain"},
				Body: &workerpb.TypedData{Data: &workerpb.TypedData_String_{String_: "seen " + seen}},
			}}
		}
		out.OutputData = append(out.OutputData, &workerpb.ParameterBinding{Name: name, RpcData: &workerpb.ParameterBinding_Data{Data: data}})
	}
	w.say(&message{Content: &workerpb.StreamingMessage_InvocationResponse{InvocationResponse: out}})
}

// scriptValues is what a script sees, in a line: "!" stands before what the real worker does
// not understand. text is the trigger's.
func scriptValues(r *workerpb.InvocationRequest) (seen, text string) {
	var words []string
	for _, in := range r.GetInputData() {
		data := in.GetData()
		switch v := data.GetData().(type) {
		case *workerpb.TypedData_String_:
			text = v.String_
			words = append(words, "string "+text)
		case *workerpb.TypedData_Json:
			words = append(words, "json "+v.Json)
		case *workerpb.TypedData_Bytes:
			words = append(words, "bytes "+string(v.Bytes))
		case *workerpb.TypedData_Http:
			h := v.Http
			text = h.GetBody().GetString_() + h.GetBody().GetJson()
			words = append(words, fmt.Sprintf("http %s, query %v, x %s, body %T %s", h.GetMethod(), h.GetQuery(), h.GetHeaders()["x-order"], h.GetBody().GetData(), text))
			if len(h.GetNullableHeaders())+len(h.GetNullableQuery())+len(h.GetNullableParams()) > 0 || h.GetRawBody() != nil {
				words = append(words, "! maps of nullable values, or a raw body")
			}
		default:
			words = append(words, fmt.Sprintf("! %T", v))
		}
	}
	if r.GetTraceContext() == nil {
		words = append(words, "! no trace context")
	}
	if rc := r.GetRetryContext(); rc != nil {
		words = append(words, fmt.Sprintf("retry %d of %d", rc.GetRetryCount(), rc.GetMaxRetryCount()))
	}
	words = append(words, "runspaces "+os.Getenv("PSWorkerInProcConcurrencyUpperBound"))
	return strings.Join(words, "; "), text
}
