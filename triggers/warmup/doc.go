// Package warmup is the warm-up trigger: it runs its function once, when the host
// starts, and then does nothing more.
//
// Read [Listener]. Left out: that the platform lets no request in before the function
// has returned. Here other functions begin beside it.
//
// The rules were read in the platform's documentation (functions-bindings-warmup) and in
// its host (ScriptJobHostExtensions.cs TryInvokeWarmupAsync).
package warmup
