package exception_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/functions/call"
	"github.com/redeliver/redeliver/host/internal/exception"
)

// A failure as the platform's host tells handlers in a language worker (observed, 4.1037).
func TestOf(t *testing.T) {
	t.Parallel()
	errTimeout := errors.New("late")
	const chain = "Microsoft.Azure.WebJobs.Host.FunctionInvocationException : Exception while executing function: Functions.Q ---> "
	for want, err := range map[string]error{
		chain + "Microsoft.Azure.WebJobs.Script.Workers.Rpc.RpcException : Result: Failure\nException: boom\nStack: at F()":       functions.NewError("Q", "id", &call.Error{Type: "System.ArgumentException", Message: "boom", Stack: "at F()"}),
		chain + "System.InvalidOperationException : no such blob":                                                                 errors.New("no such blob"),
		"Microsoft.Azure.WebJobs.Host.FunctionTimeoutException : Timeout value of 00:01:30 was exceeded by function: Functions.Q": errTimeout,
	} {
		var limit time.Duration
		if err == errTimeout {
			limit = 90 * time.Second
		}
		got := exception.Of("Functions.Q", err, limit)
		if got.Message != want || got.Type != "" || got.Source != "System.Private.CoreLib" || !strings.HasPrefix(got.StackTrace, "   at Microsoft.Azure.WebJobs.Host.Executors.FunctionExecutor.") {
			t.Errorf("got %+v\nwant %q", got, want)
		}
	}
}
