package worker_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/functions/call"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/languages"
	"github.com/redeliver/redeliver/host/process"
	"github.com/redeliver/redeliver/host/worker"
	"github.com/redeliver/redeliver/host/worker/workerpb"
	"github.com/redeliver/redeliver/retrycontext"
)

var update = flag.Bool("update", false, "write what came of the exchanges into testdata/transcripts")

// replay is one process of the player, on one clock.
type replay struct {
	bench
	root  string
	names map[string]string           // of functions, by identifier
	out   map[string][]worker.Binding // their outputs, by name

	lines   []string
	notices []string
}

// onReplay runs a test with a worker that plays the exchange of a start, and those of files.
func onReplay(t *testing.T, start string, files []string, test func(r *replay)) {
	t.Helper()
	onClocks(t, "", time.Millisecond, func(t *testing.T, clk clock.Clock) {
		r := &replay{bench: bench{T: t, clk: clk}, root: t.TempDir(), names: map[string]string{}, out: map[string][]worker.Binding{}}
		var mu sync.Mutex
		into := func(to *[]string) func(call.Log) {
			return func(l call.Log) {
				mu.Lock()
				defer mu.Unlock()
				*to = append(*to, l.Level.String()+" "+l.Message)
			}
		}
		s := worker.Spec{
			Language: languages.Dotnet, App: r.root, Directory: r.root, Indexing: true, CancelGrace: time.Minute,
			Notice: into(&r.notices), Log: into(&r.lines),
			Spec: process.Spec{
				Path: os.Args[0], Args: []string{filepath.Join(r.root, "app.dll")}, Grace: time.Millisecond, StopGrace: 5 * time.Second,
				Env: append(os.Environ(), roleVariable+"=player "+start+" "+strings.Join(files, " "), "GORACE=atexit_sleep_ms=0"),
			},
		}
		r.live(s, func() { test(r) })
	})
}

// declared takes the functions that the worker declares, and loads them, and some more of
// those names. It returns what came of that, for people.
func (r *replay) declared(more ...string) (out []string) {
	list, err := r.w.Functions(context.Background())
	if err != nil {
		return []string{"functions: " + err.Error()}
	}
	var load []worker.Function
	for _, d := range list {
		out = append(out, "function "+policies([]call.Declaration{d})[0])
		f := worker.Function{Name: d.Name}
		for _, raw := range d.Bindings {
			var b struct{ Name, Type, Direction, DataType string }
			check(json.Unmarshal(raw, &b))
			binding := worker.Binding{Name: b.Name, Type: b.Type, Raw: raw, DataType: workerpb.BindingInfo_DataType(workerpb.BindingInfo_DataType_value[b.DataType])}
			if b.Direction == "out" {
				binding.Direction = workerpb.BindingInfo_out
				r.out[d.Name] = append(r.out[d.Name], binding)
			}
			f.Bindings = append(f.Bindings, binding)
			out = append(out, "binding "+string(raw))
		}
		load = append(load, f)
	}
	for _, name := range more {
		load = append(load, worker.Function{Name: name})
	}
	failures, err := r.w.Load(context.Background(), load)
	if err != nil {
		out = append(out, "load: "+err.Error())
	}
	for _, name := range slices.Sorted(maps.Keys(failures)) {
		out = append(out, fmt.Sprintf("not loaded: %s: %s", name, failures[name].Message))
	}
	return out
}

// valueIn is a value as the platform's host sent it, before it was encoded.
func valueIn(d *workerpb.TypedData) bindings.Value {
	model := func(m *workerpb.ModelBindingData) bindings.Value {
		return bindings.Value{Kind: bindings.Model, Model: &bindings.ModelData{Source: m.GetSource(), ContentType: m.GetContentType(), Content: m.GetContent()}}
	}
	switch data := d.GetData().(type) {
	case *workerpb.TypedData_Json:
		return bindings.JSONValue([]byte(data.Json))
	case *workerpb.TypedData_Bytes:
		return bindings.BytesValue(data.Bytes)
	case *workerpb.TypedData_Int:
		return bindings.Value{Kind: bindings.Int, Int: data.Int}
	case *workerpb.TypedData_Double:
		return bindings.Value{Kind: bindings.Double, Double: data.Double}
	case *workerpb.TypedData_CollectionString:
		v := bindings.Value{Kind: bindings.Strings}
		for _, s := range data.CollectionString.GetString_() {
			v.List = append(v.List, bindings.StringValue(s))
		}
		return v
	case *workerpb.TypedData_ModelBindingData:
		return model(data.ModelBindingData)
	case *workerpb.TypedData_CollectionModelBindingData:
		v := bindings.Value{Kind: bindings.Models}
		for _, m := range data.CollectionModelBindingData.GetModelBindingData() {
			v.List = append(v.List, model(m))
		}
		return v
	case *workerpb.TypedData_Http:
		h := &bindings.HTTPRequest{Method: data.Http.GetMethod(), URL: data.Http.GetUrl(), Header: http.Header{}, Params: map[string]string{}}
		for name, value := range data.Http.GetNullableHeaders() {
			h.Header.Set(name, value.GetValue())
		}
		for name, value := range data.Http.GetHeaders() {
			h.Header.Set(name, value)
		}
		for name, value := range data.Http.GetNullableParams() {
			h.Params[name] = value.GetValue()
		}
		if h.Body = data.Http.GetBody().GetBytes(); h.Body == nil {
			h.Body = []byte(data.Http.GetBody().GetString_())
		}
		if h.URL == "" { // a forwarded one, which is not in the stream
			h.Method, h.URL = "GET", "http://localhost:7071/api/x"
		}
		return bindings.Value{Kind: bindings.Request, HTTP: h}
	}
	return bindings.StringValue(d.GetString_())
}

// requestIn is a call as the platform's host sent it.
func requestIn(q *workerpb.InvocationRequest, name string) *call.Request {
	out := &call.Request{
		InvocationID: q.GetInvocationId(), Function: name, Metadata: map[string]bindings.Value{},
		TraceParent: q.GetTraceContext().GetTraceParent(), TraceState: q.GetTraceContext().GetTraceState(),
	}
	for _, in := range q.GetInputData() {
		out.Inputs = append(out.Inputs, call.Input{Name: in.GetName(), Value: valueIn(in.GetData())})
	}
	for name, v := range q.GetTriggerMetadata() {
		out.Metadata[name] = valueIn(v)
	}
	if rc := q.GetRetryContext(); rc != nil {
		out.Retry = &retrycontext.Context{RetryCount: int(rc.GetRetryCount()), MaxRetryCount: int(rc.GetMaxRetryCount())}
		if e := rc.GetException(); e != nil {
			out.Retry.Exception = &retrycontext.Exception{Message: e.GetMessage(), Source: e.GetSource(), StackTrace: e.GetStackTrace()}
		}
	}
	return out
}

// fieldsOf are the fields of a message that are set, one for each path.
func fieldsOf(m proto.Message) map[string]string {
	raw, err := protojson.Marshal(m)
	check(err)
	var v any
	check(json.Unmarshal(raw, &v))
	out := map[string]string{}
	var walk func(path string, v any)
	walk = func(path string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for name, member := range v {
				walk(path+"."+name, member)
			}
		case []any:
			for i, member := range v {
				walk(fmt.Sprintf("%s[%d]", path, i), member)
			}
		default:
			out[strings.TrimPrefix(path, ".")] = fmt.Sprint(v)
		}
	}
	walk("", v)
	return out
}

// differences are the fields that are sent otherwise than the platform's host did.
func differences(theirs, ours map[string]string) (out []string) {
	for _, path := range slices.Sorted(maps.Keys(theirs)) {
		if v, ok := ours[path]; !ok || v != theirs[path] {
			out = append(out, fmt.Sprintf("not sent: %s %q", path, theirs[path]))
		}
	}
	for _, path := range slices.Sorted(maps.Keys(ours)) {
		if v, ok := theirs[path]; !ok || v != ours[path] {
			out = append(out, fmt.Sprintf("sent: %s %q", path, ours[path]))
		}
	}
	return out
}

// told is a value for people.
func told(v bindings.Value) string {
	switch v.Kind {
	case bindings.Bytes:
		return fmt.Sprintf("bytes %q", v.Data)
	case bindings.Response:
		r, text := v.HTTPResponse, ""
		for _, name := range slices.Sorted(maps.Keys(r.Header)) {
			if name == "Date" {
				continue
			}
			text += fmt.Sprintf(" %s=%q", name, r.Header[name])
		}
		return fmt.Sprintf("answer %d%s %.60q", r.StatusCode, text, r.Body)
	}
	return fmt.Sprintf("%s %s", map[bindings.ValueKind]string{bindings.String: "text", bindings.JSON: "json"}[v.Kind], v.Text)
}

// call makes the call of an exchange, and says what came of it.
func (r *replay) call(exchange string, steps []step) (out []string) {
	var q *workerpb.InvocationRequest
	cancelled := false
	for _, s := range steps {
		if s.verb != "host" {
			continue
		}
		if m := said(s, exchange); m.GetInvocationRequest() != nil {
			q = m.GetInvocationRequest()
		} else if m.GetInvocationCancel() != nil {
			cancelled = true
		}
	}
	ctx := context.Background()
	if cancelled {
		var end context.CancelFunc
		ctx, end = r.clk.WithTimeout(ctx, 50*time.Millisecond)
		defer end()
	}
	name, known := r.names[q.GetFunctionId()]
	if !known {
		name = "Another"
	}
	req := requestIn(q, name)
	for _, b := range r.out[name] {
		req.Outputs = append(req.Outputs, b.Name)
		if b.Type == "http" {
			req.HTTPOutput = b.Name
		}
	}
	actions := &recordedActions{refuse: slices.ContainsFunc(steps, func(s step) bool { return s.verb == "refused" })}
	req.Actions = actions
	resp, err := r.w.Invoke(ctx, req, func(l call.Log) {
		text, ours := strings.CutPrefix(l.Message, "player: ")
		switch {
		case !ours:
			out = append(out, fmt.Sprintf("line %s %.100q", l.Level, l.Message))
		case strings.HasPrefix(text, "{"):
			got := &workerpb.InvocationRequest{}
			check(protojson.Unmarshal([]byte(text), got))
			if !known {
				got.FunctionId = q.GetFunctionId()
			}
			out = append(out, differences(fieldsOf(q), fieldsOf(got))...)
		default:
			out = append(out, text)
		}
	})
	for _, done := range actions.done {
		out = append(out, "settled "+done)
	}
	switch {
	case err != nil:
		return append(out, "no answer: "+err.Error())
	case resp.Error != nil:
		how := map[call.Status]string{call.Failed: "failed", call.Cancelled: "cancelled"}[resp.Status]
		return append(out, fmt.Sprintf("%s type %q", how, resp.Error.Type), fmt.Sprintf("message %.200q", resp.Error.Message), fmt.Sprintf("text %.300q", resp.Error.Text))
	}
	out = append(out, "succeeded")
	for _, name := range slices.Sorted(maps.Keys(resp.Outputs)) {
		out = append(out, name+" = "+told(resp.Outputs[name]))
	}
	if resp.Return != nil {
		out = append(out, "returned "+told(*resp.Return))
	}
	return out
}

// recordedActions answer as the host of the record did.
type recordedActions struct {
	refuse bool
	done   []string
}

func (a *recordedActions) note(text string) error {
	if a.refuse {
		return bindings.ErrNotHeld
	}
	a.done = append(a.done, text)
	return nil
}

func (a *recordedActions) Settle(_ context.Context, lock string, how bindings.Disposition) error {
	text := fmt.Sprintf("%s %s %q %q", how.Decision, lock, how.Reason, how.Description)
	for _, name := range slices.Sorted(maps.Keys(how.Properties)) {
		text += fmt.Sprintf(" %s=%v", name, how.Properties[name])
	}
	return a.note(text)
}
func (a *recordedActions) Renew(_ context.Context, lock string) error {
	return a.note("renewed " + lock)
}
func (a *recordedActions) SessionState(_ context.Context, session string) ([]byte, error) {
	return []byte("old state"), a.note("state of " + session)
}
func (a *recordedActions) SetSessionState(_ context.Context, session string, state []byte) error {
	return a.note(fmt.Sprintf("state of %s: %q", session, state))
}
func (a *recordedActions) RenewSession(_ context.Context, session string) (time.Time, error) {
	return time.Date(2026, 1, 1, 0, 5, 0, 0, time.UTC), a.note("renewed session " + session)
}
func (a *recordedActions) ReleaseSession(_ context.Context, session string) error {
	return a.note("released " + session)
}

var updating sync.Mutex // of the files of testdata/transcripts

// wants compares what came of the exchanges of a file with its lines "want", or writes them.
func wants(t *testing.T, file string, got map[string][]string) {
	t.Helper()
	updating.Lock()
	defer updating.Unlock()
	path := "testdata/transcripts/" + file + ".txtar"
	a, err := txtar.ParseFile(path)
	check(err)
	for i, f := range a.Files {
		var kept, want []string
		for line := range strings.Lines(string(f.Data)) {
			if text, ok := strings.CutPrefix(line, "want "); ok {
				want = append(want, strings.TrimSuffix(text, "\n"))
			} else {
				kept = append(kept, line)
			}
		}
		lines, replayed := got[f.Name]
		lines = strings.Split(strings.Join(lines, "\n"), "\n")
		if diff := cmp.Diff(want, lines); diff != "" && replayed && !*update {
			t.Errorf("%s (-want +got):\n%s", f.Name, diff)
		}
		if replayed {
			a.Files[i].Data = []byte(strings.Join(kept, ""))
			for _, line := range lines {
				a.Files[i].Data = append(a.Files[i].Data, "want "+line+"\n"...)
			}
		}
	}
	if *update {
		check(os.WriteFile(path+".new", txtar.Format(a), 0o600)) // players read the other one meanwhile
		check(os.Rename(path+".new", path))
	}
}

// What the real worker says at its start, of its functions and to their loads, and what the
// host makes of it: no line of it is an error, and unknown capabilities do no harm (spec
// workers-dotnet-java 1.6, 1.7).
func TestReplayedStarts(t *testing.T) {
	t.Parallel()
	for _, start := range []string{"start-2.52", "start-2.51", "start-aspnetcore", "start-options", "start-otel", "old-mixed-1.19-start"} {
		t.Run(start, func(t *testing.T) {
			t.Parallel()
			onReplay(t, start, []string{"start"}, func(r *replay) {
				var out []string
				if strings.Contains(fmt.Sprint(exchanges("start")[start]), "functionMetadataResponse") {
					out = r.declared()
				}
				if err := r.w.Health(context.Background()); err != nil {
					r.Error(err)
				}
				for _, n := range r.notices {
					out = append(out, "notice "+n)
				}
				for _, l := range r.lines {
					out = append(out, fmt.Sprintf("line %.100q", l))
				}
				wants(r.T, "start", map[string][]string{start: out})
			})
		})
	}
}

// Calls as the platform's host made them are sent to the worker in the same form, field for
// field, and what the real worker answered becomes their outcome (spec workers-dotnet-java
// 1.7 to 1.12). Where a record shows what a host must not send, the lines "sent" and "not
// sent" are the difference.
//
// The records are of the worker 2.52.0 with .NET 10; stacks and long lines are cut. "http"
// lines stand for what its HTTP server answered.
func TestReplayedCalls(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"invoke", "fail", "settle", "cancel", "forward", "life"} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			start, files := "start-2.52", []string{"start", "metadata", file}
			if file == "forward" {
				start, files = "start-aspnetcore", []string{"start", "forward"}
			}
			onReplay(t, start, files, func(r *replay) {
				for name, steps := range exchanges(files...) {
					for _, s := range steps {
						if s.verb == "worker" && (name == start || name == "metadata-all-kinds") {
							for _, f := range said(s, "").GetFunctionMetadataResponse().GetFunctionMetadataResults() {
								r.names[f.GetFunctionId()] = f.GetName()
							}
						}
					}
				}
				got := map[string][]string{}
				wrong := []string{"no-such-assembly", "no-such-method", "no-script-file", "bad-entry-point"}
				if out := r.declared(append(wrong, "Another")...); file == "life" {
					wants(r.T, "metadata", map[string][]string{"metadata-all-kinds": out})
				}
				all := exchanges(file)
				for _, name := range slices.Sorted(maps.Keys(all)) {
					got[name] = r.call(name, all[name])
				}
				wants(r.T, file, got)
			})
		})
	}
}
