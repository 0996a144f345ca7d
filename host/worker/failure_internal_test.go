package worker

import (
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
