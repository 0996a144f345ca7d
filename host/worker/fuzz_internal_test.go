package worker

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/redeliver/redeliver/functions/call"
	"github.com/redeliver/redeliver/host/process"
	"github.com/redeliver/redeliver/host/worker/workerpb"
)

// addFile adds a file of the repository to a corpus.
func addFile(f *testing.F, path ...string) {
	f.Helper()
	text, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
}

// FuzzMetadata: a functions.metadata is refused with its name, or gives functions whose
// bindings are JSON objects in the words of function.json, which stay as they are when they
// are read again.
func FuzzMetadata(f *testing.F) {
	addFile(f, "testdata", "dotnet", MetadataFile)
	for _, text := range []string{
		`[{"name":"f","bindings":[{"type":"httpTrigger","authLevel":"Function","Direction":"In"},{"name":"$return","type":"http","direction":"Out"}],"retry":{"strategy":"FixedDelay","maxRetryCount":-1,"delayInterval":"00:00:00"}}]`,
		`[{"bindings":[null]},{"name":"","bindings":["x",[],1]},null]`, `[{"name":"f","bindings":[{"":"","DIRECTION":{"A":["É"]},"direction":null}],"retry":{}}]`,
		`[{"name":"f","retry":{"strategy":"exponentialBackoff","minimumInterval":"x"}}]`, `null`, `{}`,
	} {
		f.Add([]byte(text))
	}
	path := filepath.Join(f.TempDir(), MetadataFile)
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		found, err := readMetadata(path)
		if err != nil {
			if !strings.Contains(err.Error(), MetadataFile) {
				t.Errorf("%v", err)
			}
			return
		}
		for _, m := range found {
			declares(t, m)
		}
	})
}

// declares checks what becomes of the answer of a worker for one function.
func declares(t *testing.T, m *workerpb.RpcFunctionMetadata) {
	t.Helper()
	d, err := declarationOf(m)
	if err != nil {
		if !strings.HasPrefix(err.Error(), "function ") {
			t.Errorf("a fault without the function: %v", err)
		}
		return
	}
	if d.Name != m.GetName() || len(d.Bindings) != len(m.GetRawBindings()) || (d.Retry == nil) != (m.GetRetryOptions() == nil) {
		t.Errorf("%v is declared as %+v", m, d)
	}
	for i, b := range d.Bindings {
		var members map[string]json.RawMessage
		if err := json.Unmarshal(b, &members); err != nil || members == nil {
			t.Errorf("binding %s: %v", b, err)
		}
		if again, err := plainBinding(string(b)); err != nil || string(again) != string(b) {
			t.Errorf("binding %s is %s when it is read again: %v", b, again, err)
		}
		if i > 0 && triggerLast(b) > triggerLast(d.Bindings[i-1]) {
			t.Errorf("a trigger stands behind another binding: %s", d.Bindings)
		}
	}
}

// FuzzIndexed: an answer to the question for functions is refused with the function's name,
// or gives its declaration.
func FuzzIndexed(f *testing.F) {
	for _, m := range []*workerpb.RpcFunctionMetadata{
		{Name: "f", RawBindings: []string{`{"type":"queue","direction":"OUT"}`, `{"type":"queueTrigger","direction":"IN","queueName":"q"}`}},
		{Name: "g", RawBindings: []string{`{}`, `null`}, RetryOptions: &workerpb.RpcRetryOptions{MaxRetryCount: -1, DelayInterval: durationpb.New(1 << 62)}},
		{Status: &workerpb.StatusResult{Status: workerpb.StatusResult_Failure, Exception: &workerpb.RpcException{Message: "no module"}}},
	} {
		raw, err := proto.Marshal(m)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		m := &workerpb.RpcFunctionMetadata{}
		if proto.Unmarshal(raw, m) == nil {
			declares(t, m)
		}
	})
}

// FuzzLine: a line of a worker is no message, or one that is sent and read as the same.
func FuzzLine(f *testing.F) {
	for _, text := range []string{
		`{"startStream":{"workerId":"w"}}`,
		`{"invocationResponse":{"invocationId":"1","returnValue":{"json":"{}"},"result":{"status":"Success"}}}`,
		`{"invocationResponse":{"invocationId":"1","returnValue":{"string":"\ud83d"}}}`,
		`{"invocationResponse":{"invocationId":"1","returnValue":{"int":99999999999999999999}}}`,
		`{"functionLoadResponse":{"functionId":5}}`, `{"functionLoadResponse":{"functionId":"f","result":[]}}`,
		`{"rpcLog":{"level":"Error","message":"x","eventId":"2"}}`, `{"later":1}`, `[]`, `null`, `{"":{"":1}}`,
		`{"invocationRequest":{"invocationId":"1","inputData":[{"name":"r","data":{"http":{"url":"http://h/a?b=1&a=2&b=3","query":{"a":"2","b":"1"}}}}]}}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		m, err := messageOf(line)
		if err != nil {
			return
		}
		text, err := lineOf(m)
		if err != nil {
			t.Fatalf("%v cannot be sent: %v", m, err)
		}
		if again, err := messageOf(text); err != nil || !proto.Equal(again, m) {
			t.Errorf("%s is read as %v: %v", text, again, err)
		}
	})
}

// FuzzWithText: what gRPC takes of a worker is UTF-8 in all its texts, and whole messages
// stay as they are.
func FuzzWithText(f *testing.F) {
	for _, m := range []*message{
		{RequestId: "r", Content: &workerpb.StreamingMessage_RpcLog{RpcLog: &workerpb.RpcLog{Message: "x"}}},
		{Content: &workerpb.StreamingMessage_FunctionLoadResponse{FunctionLoadResponse: &workerpb.FunctionLoadResponse{FunctionId: "f"}}},
	} {
		raw, err := proto.Marshal(m)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
		f.Add(append(raw, 0x0a, 2, 0xf0, 0x9f))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		out, ok := withText(raw, (&message{}).ProtoReflect().Descriptor())
		was, is := &message{}, &message{}
		before := proto.Unmarshal(raw, was)
		if !ok {
			if before == nil {
				t.Errorf("%x is a message", raw)
			}
			return
		}
		after := proto.Unmarshal(out, is)
		if before == nil && (after != nil || !proto.Equal(is, was)) {
			t.Errorf("%x was %v, and is %v, %v", raw, was, is, after)
		}
		if again, ok := withText(out, is.ProtoReflect().Descriptor()); !ok || string(again) != string(out) {
			t.Errorf("%x is %x the second time", out, again)
		}
	})
}

// FuzzConsoleLine: a line that is shown is the end of what the worker wrote.
func FuzzConsoleLine(f *testing.F) {
	for _, text := range []string{"the user's own", "azfuncjsonlog:{}", "LanguageWorkerConsoleLog[error] wrong version", "LanguageWorkerConsoleLog", "LanguageWorkerConsoleLogLanguageWorkerConsoleLog\x00"} {
		f.Add(text, int32(call.Information))
		f.Add(text, int32(call.ErrorLevel))
	}
	f.Fuzz(func(t *testing.T, text string, level int32) {
		l, drop := ConsoleLine(process.Line{Text: text, Level: call.Level(level)})
		if !strings.HasSuffix(text, l.Text) || l.Level != call.Level(level) {
			t.Errorf("%q is shown as %+v", text, l)
		}
		if !drop && strings.HasPrefix(text, "azfuncjsonlog:") {
			t.Errorf("%q is shown, and for tools", text)
		}
	})
}
