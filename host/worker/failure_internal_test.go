package worker

import (
	"strings"
	"testing"

	"github.com/redeliver/redeliver/host/worker/workerpb"
)

// A failure always says something.
func TestFailureMessages(t *testing.T) {
	t.Parallel()
	for want, e := range map[string]*workerpb.RpcException{
		"boom":                        {Message: "boom", Type: "TypeError"},
		"TypeError without a message": {Type: "TypeError", StackTrace: "TypeError\n    at f (i.js:1:1)"},
		"the worker reports a failure and says no more": nil,
	} {
		if got := failureOf(&workerpb.StatusResult{Status: workerpb.StatusResult_Failure, Exception: e}); got.Message != want {
			t.Errorf("%v: got %q, want %q", e, got.Message, want)
		}
	}
	if got := failureOf(&workerpb.StatusResult{Status: workerpb.StatusResult_Failure, Result: "told", Exception: &workerpb.RpcException{Type: "E"}}); got.Message != "told" {
		t.Errorf("the result says it: got %q", got.Message)
	}
}

// An answer with a value that no message holds is the failure of what it answers, and the
// stream goes on.
func TestUnreadableAnswers(t *testing.T) {
	t.Parallel()
	for line, result := range map[string]func(*message) *workerpb.StatusResult{
		`{"invocationResponse":{"invocationId":"1","returnValue":{"int":99999999999999999999}}}`: func(m *message) *workerpb.StatusResult {
			return m.GetInvocationResponse().GetResult()
		},
		`{"functionLoadResponse":{"functionId":"f","result":[]}}`: func(m *message) *workerpb.StatusResult {
			return m.GetFunctionLoadResponse().GetResult()
		},
		`{"functionMetadataResponse":{"functionMetadataResults":[{"name":"f","retryOptions":{"delayInterval":"9e99s"}}]}}`: func(m *message) *workerpb.StatusResult {
			return m.GetFunctionMetadataResponse().GetResult()
		},
	} {
		m, err := messageOf([]byte(line))
		if err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		if got := failureOf(result(m)); got == nil || !strings.HasPrefix(got.Message, "the host cannot read what the worker answers: ") {
			t.Errorf("%s: %+v", line, got)
		}
	}
}
