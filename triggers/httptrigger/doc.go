// Package httptrigger is the HTTP trigger without the sockets: it finds the function
// for a request, and makes the function's value of it.
//
// Read [Router] first, then [Listener]: the host's front calls Serve for each request,
// and the call lasts as long as all attempts do. [Throttle] limits how many do so at once.
//
// Left out: listening, keys and levels of authorisation, CORS, and the status
// codes of a host that is not running, all of which belong to the front; an open
// circuit breaker too, which the front answers before it calls Serve.
//
// Routes follow ASP.NET's templates, as the documentation of its routing has
// them. The other rules were read in the functions host (ScriptHost.cs,
// HttpBinding.cs) and in the HTTP extension (HttpTriggerAttributeBindingProvider.cs).
package httptrigger
