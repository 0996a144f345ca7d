package dotnettest

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/redeliver/redeliver/host/worker/workerpb"
)

// input is the body of a trigger, as far as it says what the function is to do.
type input struct {
	ID     json.RawMessage
	Fail   bool     // throws
	Hang   bool     // waits for its CancellationToken, and throws
	Ignore bool     // waits, and does not look at the token
	Exit   bool     // ends the process
	Hold   string   // a named pipe to keep open
	Settle []string // calls of the Settlement service, first of all
	Log    []logged // lines, before anything else
}

// logged is a line of a logger.
type logged struct {
	Level, Text string
	Category    string // empty is the function's
	Outside     bool   // in no call
}

// track notes a call for its cancellation, which ends the context. It reports false for
// an invocation that runs already.
func (w *worker) track(id string) (context.Context, bool) {
	ctx, cancel := context.WithCancel(context.Background())
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.running[id] != nil {
		cancel()
		return ctx, false
	}
	w.running[id] = cancel
	return ctx, true
}

// invoke is one call. What a function gets is written as JSON to its first output, "seen".
func (w *worker) invoke(ctx context.Context, r *workerpb.InvocationRequest, tracked bool) {
	id := r.GetInvocationId()
	out := &workerpb.InvocationResponse{InvocationId: id}
	w.mu.Lock()
	m := w.loaded[r.GetFunctionId()]
	w.mu.Unlock()
	switch {
	case !tracked:
		out.Result = failure("System.InvalidOperationException", "Unable to track CancellationTokenSource")
	case m == nil:
		out.Result = failure("System.InvalidOperationException", "the function has not been loaded: "+r.GetFunctionId())
	case unreadable(r) != "":
		out.Result = failure("System.NotSupportedException", unreadable(r))
	case w.script.HTTP && r.GetInputData()[0].GetData().GetHttp() != nil:
		w.runHTTP(r, m, out)
	default:
		w.run(ctx, r, m, out)
	}
	if tracked {
		w.mu.Lock()
		w.running[id]()
		delete(w.running, id)
		w.mu.Unlock()
	}
	if e := out.GetResult().GetException(); e != nil {
		// The real worker tells of each failing call in a line too.
		w.log(id, workerpb.RpcLog_Error, "Microsoft.Azure.Functions.Worker.FunctionsApplication", "InvocationError",
			fmt.Sprintf("Function '%s', Invocation id '%s': An exception was thrown by the invocation.", m.GetName(), id), e)
	}
	out.TraceContextAttributes = map[string]string{"faas.execution": id} // as since 2026
	w.say(&message{Content: &workerpb.StreamingMessage_InvocationResponse{InvocationResponse: out}})
}

// unreadable says why the real worker cannot read a request; empty: it can (spec
// workers-dotnet-java 1.7).
func unreadable(r *workerpb.InvocationRequest) string {
	if r.GetTraceContext() == nil {
		return "Object reference not set to an instance of an object."
	}
	folded := map[string]bool{}
	values := map[string]*workerpb.TypedData{}
	for name, v := range r.GetTriggerMetadata() {
		if folded[strings.ToLower(name)] {
			return "An item with the same key has already been added. Key: " + name
		}
		folded[strings.ToLower(name)] = true
		values["metadata "+name] = v
	}
	for _, in := range r.GetInputData() {
		values[in.GetName()] = in.GetData()
	}
	for name, v := range values {
		switch v.GetData().(type) {
		case *workerpb.TypedData_Int, *workerpb.TypedData_Double, *workerpb.TypedData_Stream:
			return fmt.Sprintf("%s: the kind %T is not supported", name, v.GetData())
		}
		if h := v.GetHttp(); h != nil && (len(h.GetHeaders())+len(h.GetQuery())+len(h.GetParams()) > 0 || !complete(h.GetIdentities()) || h.GetBody() != nil && h.GetBody().GetBytes() == nil) {
			return name + ": the request is not in the form of the capabilities"
		}
	}
	return ""
}

// complete reports whether identities have their claim types: the real worker throws on
// one that lacks them.
func complete(identities []*workerpb.RpcClaimsIdentity) bool {
	for _, id := range identities {
		if id.GetNameClaimType().GetValue() == "" || id.GetRoleClaimType().GetValue() == "" {
			return false
		}
	}
	return true
}

// run is the function's body.
func (w *worker) run(ctx context.Context, r *workerpb.InvocationRequest, m *workerpb.RpcFunctionMetadata, out *workerpb.InvocationResponse) {
	id, data := r.GetInvocationId(), r.GetInputData()[0].GetData()
	retry := "no retry context"
	if rc := r.GetRetryContext(); rc != nil {
		retry = fmt.Sprintf("retry %d of %d", rc.GetRetryCount(), rc.GetMaxRetryCount())
	}
	text := data.GetString_() + data.GetJson() + string(data.GetBytes())
	if h := data.GetHttp(); h != nil {
		text = string(h.GetBody().GetBytes())
	}
	var in input
	_ = json.Unmarshal([]byte(strings.Trim(text, "[]")), &in) // another text asks for nothing; of a batch the one message counts
	name := strings.Split(m.GetEntryPoint(), ".")
	about, _, _ := strings.Cut(strings.TrimSpace(w.assembly), "\n")
	w.log(id, workerpb.RpcLog_Information, "Function."+m.GetName()+".User", "0", fmt.Sprintf("%s: order %s, %s (%s)", name[len(name)-1], in.ID, retry, strings.TrimLeft(about, "/ ")), nil)
	for _, l := range in.Log {
		of := id
		if l.Outside {
			of = ""
		}
		w.log(of, workerpb.RpcLog_Level(workerpb.RpcLog_Level_value[l.Level]), l.Category, "0", l.Text, nil)
	}
	out.Result = success()
	for _, action := range in.Settle {
		w.settle(r, action)
	}
	if in.Hold != "" {
		_, err := os.OpenFile(in.Hold, os.O_WRONLY, 0)
		check(err)
		fmt.Println("called")
	}
	switch {
	case in.Fail:
		out.Result = failure("System.InvalidOperationException", "no such order")
		return
	case in.Hang:
		<-ctx.Done()
		out.Result = failure("System.Threading.Tasks.TaskCanceledException", "A task was canceled.")
		out.Result.Status = workerpb.StatusResult_Cancelled
		return
	case in.Ignore:
		select {}
	case in.Exit:
		os.Exit(3)
	}
	if data.GetHttp() != nil {
		out.ReturnValue = &workerpb.TypedData{Data: &workerpb.TypedData_Http{Http: &workerpb.RpcHttp{
			StatusCode: "202", Headers: map[string]string{"Content-Type": "text/plain; charset=utf-8"},
			Body: &workerpb.TypedData{Data: &workerpb.TypedData_Bytes{Bytes: fmt.Appendf(nil, "order %s accepted\n", in.ID)}},
		}}}
	}
	w.write(r, m, out)
}

// write gives the first output that is not HTTP what the function was given.
func (w *worker) write(r *workerpb.InvocationRequest, m *workerpb.RpcFunctionMetadata, out *workerpb.InvocationResponse) {
	for _, raw := range m.GetRawBindings() {
		var b struct{ Name, Type, Direction string }
		check(json.Unmarshal([]byte(raw), &b))
		if !strings.EqualFold(b.Direction, "out") || b.Type == "http" {
			continue
		}
		seen, err := json.Marshal(w.seen(r, r.GetInputData()[0].GetData()))
		check(err)
		out.OutputData = append(out.OutputData, &workerpb.ParameterBinding{Name: b.Name, RpcData: &workerpb.ParameterBinding_Data{
			Data: &workerpb.TypedData{Data: &workerpb.TypedData_Json{Json: string(seen)}},
		}})
		return
	}
}

// seen is what a function was given.
func (w *worker) seen(r *workerpb.InvocationRequest, data *workerpb.TypedData) map[string]any {
	names := []string{}
	for name := range r.GetTriggerMetadata() {
		names = append(names, name)
	}
	slices.Sort(names)
	return map[string]any{
		"kind": fmt.Sprintf("%T", data.GetData()), "json": data.GetJson(), "text": data.GetString_(), "list": data.GetCollectionString().GetString_(),
		"metadata": names, "id": r.GetFunctionId(), "cwd": directory(), "app": os.Getenv("FUNCTIONS_APPLICATION_DIRECTORY"),
		"environment": os.Getenv("AZURE_FUNCTIONS_ENVIRONMENT"), "noLogo": os.Getenv("DOTNET_NOLOGO"), "greeting": os.Getenv("Greeting"),
	}
}

func directory() string {
	dir, err := os.Getwd()
	check(err)
	return dir
}

func (w *worker) log(id string, level workerpb.RpcLog_Level, category, event, text string, e *workerpb.RpcException) {
	l := &workerpb.RpcLog{InvocationId: id, Level: level, Category: category, EventId: event, Message: text, LogCategory: workerpb.RpcLog_User}
	if e != nil {
		l.Exception = &workerpb.RpcException{Message: e.GetType() + ": " + e.GetMessage() + "\n" + e.GetStackTrace()}
	}
	w.say(&message{Content: &workerpb.StreamingMessage_RpcLog{RpcLog: l}})
}
