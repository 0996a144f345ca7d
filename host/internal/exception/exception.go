// Package exception writes failures as the platform's host tells them to handlers in a
// language worker. It is one file. Left out: the texts for handlers in Go.
package exception

import (
	"errors"
	"time"

	"github.com/redeliver/redeliver/functions"
	"github.com/redeliver/redeliver/retrycontext"
)

// frames is the stack of the platform's own code, below which every failure of a function
// was thrown.
const frames = "   at Microsoft.Azure.WebJobs.Host.Executors.FunctionExecutor.ExecuteWithLoggingAsync(IFunctionInstanceEx instance, " +
	"FunctionStartedMessage message, FunctionInstanceLogEntry instanceLogEntry, ParameterHelper parameterHelper, ILogger logger, " +
	"CancellationToken cancellationToken)\n" +
	"   at Microsoft.Azure.WebJobs.Host.Executors.FunctionExecutor.TryExecuteAsync(IFunctionInstance functionInstance, CancellationToken cancellationToken)"

// Of is the failure of a function, "Functions.NAME": the chain of exceptions with their
// types, and the worker's stack in the innermost text. The platform's own frames below that
// are left out. It has no type. A time-out, whose limit is given then, is not wrapped.
//
// Source: host: Workers/Rpc/RpcException.cs; sdk: Executors/FunctionExecutor.cs
// GetExceptionDispatchInfo; observed, the platform's host 4.1037 with workers for .NET and
// Node.js.
func Of(function string, err error, timeout time.Duration) *retrycontext.Exception {
	x := &retrycontext.Exception{Source: "System.Private.CoreLib", StackTrace: frames}
	if timeout != 0 {
		x.Message = "Microsoft.Azure.WebJobs.Host.FunctionTimeoutException : Timeout value of " + retrycontext.FormatTimeSpan(timeout) + " was exceeded by function: " + function
		return x
	}
	inner := "System.InvalidOperationException : " + err.Error()
	if handler, ok := errors.AsType[*functions.Error](err); ok {
		inner = "Microsoft.Azure.WebJobs.Script.Workers.Rpc.RpcException : Result: Failure\nException: " + handler.Message + "\nStack: " + handler.Stack
	}
	x.Message = "Microsoft.Azure.WebJobs.Host.FunctionInvocationException : Exception while executing function: " + function + " ---> " + inner
	return x
}
