package worker

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/redeliver/redeliver/functions/call"
	"github.com/redeliver/redeliver/host/languages"
	"github.com/redeliver/redeliver/host/worker/workerpb"
	"github.com/redeliver/redeliver/retrycontext"
)

// unconnected is what helps a worker that has not connected, although nothing has failed in
// it: it runs, or has ended well. Empty: it has said itself what it lacks.
func (c *conn) unconnected() string {
	if c.spec.Language != languages.Dotnet || c.child.Ended() && c.child.Status() != "exit status 0" {
		return ""
	}
	return "does Program call FunctionsApplication.CreateBuilder, or ConfigureFunctionsWorkerDefaults or ConfigureFunctionsWebApplication of its host builder, and Run?"
}

// MetadataFile is what the build of a .NET app writes of its functions.
const MetadataFile = "functions.metadata"

// fileFunction is an object of that file (spec workers-dotnet-java 1.3, 1.4).
type fileFunction struct {
	Name, ScriptFile, EntryPoint, Language string

	Bindings []json.RawMessage
	Retry    *struct {
		Strategy      string
		MaxRetryCount int32

		DelayInterval, MinimumInterval, MaximumInterval *string
	}
}

// readMetadata reads functions.metadata.
func readMetadata(path string) ([]*workerpb.RpcFunctionMetadata, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var list []fileFunction
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Base(path), err)
	}
	var out []*workerpb.RpcFunctionMetadata
	for i, f := range list {
		m := &workerpb.RpcFunctionMetadata{
			Name: f.Name, FunctionId: f.Name, ScriptFile: f.ScriptFile, EntryPoint: f.EntryPoint, Language: f.Language,
		}
		for _, b := range f.Bindings {
			m.RawBindings = append(m.RawBindings, string(b))
		}
		if m.RetryOptions, err = f.retry(); err != nil {
			return nil, fmt.Errorf("%s: [%d].retry of function %q: %w", filepath.Base(path), i, f.Name, err)
		}
		out = append(out, m)
	}
	return out, nil
}

// retry is the policy as the indexing answer of a worker has it.
func (f *fileFunction) retry() (*workerpb.RpcRetryOptions, error) {
	if f.Retry == nil {
		return nil, nil
	}
	out := &workerpb.RpcRetryOptions{MaxRetryCount: f.Retry.MaxRetryCount}
	strategy, err := retrycontext.ParseStrategy(f.Retry.Strategy)
	if err != nil {
		return nil, err
	}
	if strategy == retrycontext.FixedDelay {
		out.RetryStrategy = workerpb.RpcRetryOptions_fixed_delay
	}
	for _, span := range []struct {
		text *string
		to   **durationpb.Duration
	}{
		{f.Retry.DelayInterval, &out.DelayInterval},
		{f.Retry.MinimumInterval, &out.MinimumInterval},
		{f.Retry.MaximumInterval, &out.MaximumInterval},
	} {
		if span.text == nil {
			continue
		}
		d, err := retrycontext.ParseTimeSpan(*span.text)
		if err != nil {
			return nil, err
		}
		*span.to = durationpb.New(d)
	}
	return out, nil
}

// lostPolicies tells of functions and policies that stand in functions.metadata, and not in
// the answer of the worker: that of an app in F# drops policies, and the platform has none
// then (spec workers-dotnet-java 1.4).
func (c *conn) lostPolicies(answer []*workerpb.RpcFunctionMetadata) {
	if c.spec.Metadata == "" || c.spec.Notice == nil {
		return
	}
	written, err := readMetadata(c.spec.Metadata)
	if err != nil {
		return // it is for who reads the file
	}
	policies := map[string]bool{} // of the functions that the worker knows
	for _, f := range answer {
		policies[strings.ToLower(f.GetName())] = f.GetRetryOptions() != nil
	}
	for _, f := range written {
		has, known := policies[strings.ToLower(f.GetName())]
		if !known {
			c.spec.Notice(call.Log{Level: call.Warning, Message: fmt.Sprintf(
				"function %q stands in %s, and the worker does not know it: it does not run, as on the platform. A silenced error AZFW0012 does that: a retry attribute on a trigger that does not support it", f.GetName(), MetadataFile)})
		}
		if known && !has && f.GetRetryOptions() != nil {
			c.spec.Notice(call.Log{Level: call.Warning, Message: fmt.Sprintf(
				"function %q has a retry attribute that the worker does not pass on, as for functions in F#: no retry policy applies, as on the platform", f.GetName())})
		}
	}
}

// folded is a line as it is shown. A .NET worker logs the failure that it is about to answer
// with, and its frameworks tell of each request that they serve or send, and where: what is
// told again is for who looks at details (spec workers-dotnet-java 1.12).
func folded(l *workerpb.RpcLog) call.Log {
	out := logOf(l)
	if tellsFailure(l) || l.GetLevel() <= workerpb.RpcLog_Information && ofFramework(l.GetCategory()) {
		out.Level = min(out.Level, call.Debug)
	}
	return out
}

// ofFramework reports whether a category is that of what lies between the host and a
// function: the web server of the worker, its host, and its client for settlements.
func ofFramework(category string) bool {
	for _, prefix := range []string{"Microsoft.AspNetCore.", "Microsoft.Hosting.Lifetime", "System.Net.Http.HttpClient.CallInvokerExtractor."} {
		if strings.HasPrefix(category, prefix) {
			return true
		}
	}
	return false
}

func tellsFailure(l *workerpb.RpcLog) bool {
	return l.GetCategory() == "Microsoft.Azure.Functions.Worker.FunctionsApplication" && (l.GetEventId() == "InvocationError" || l.GetEventId() == "2")
}

// inWords is a failure for people: the type before the message, and behind it the exceptions
// inside. The answer of the worker has the outermost one alone; the line that it logs before
// has all, in the form of Exception.ToString.
func inWords(e *call.Error, thrown string) string {
	if e.Type == "" {
		return ""
	}
	text := e.Type
	if e.Message != noMessage(e.Type) {
		text += ": " + e.Message
	}
	for line := range strings.Lines(thrown) {
		if inner, ok := strings.CutPrefix(line, " ---> "); ok && !strings.Contains(text, strings.TrimSpace(inner)) {
			text += " ---> " + strings.TrimSuffix(strings.TrimSpace(inner), "<---")
		}
	}
	return text
}
