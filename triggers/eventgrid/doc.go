// Package eventgrid is the Event Grid trigger: it takes the requests that Event
// Grid makes to an app's web hook, answers its handshakes and runs functions for
// the events in them.
//
// Read [Listener.Serve] first: it is the whole of the protocol. The service
// retries; a function's own retry policy repeats within one request, and a
// request that lasts longer than 30 s comes again although the first run
// goes on.
//
// What it leaves out: keys and the choice of the function (host/web and host), and
// Event Grid itself (host/emulator/eventgrid).
//
// Source of all behaviour: azure-sdk-for-net,
// Microsoft.Azure.WebJobs.Extensions.EventGrid/src/TriggerBinding/HttpRequestProcessor.cs
// and tests/TestListener.cs.
package eventgrid
