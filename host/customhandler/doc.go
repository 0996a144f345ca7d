// Package customhandler is the host's side of an HTTP custom handler: a program in any
// language that serves the app's functions over HTTP (spec workers 13). It starts the
// program on a free port, and calls functions by requests to it.
//
// Read [Start], [Spec] and [Handler.Invoke] first. conn.go is the connection with one
// process; request.go makes the body of a request, response.go reads that of an answer;
// forward.go hands an HTTP request through, proxy.go does it while it comes in. The life of the process is the business of
// package process.
//
// Left out: finding the program of an app (package app), retries, timeouts and the
// journal (package host).
package customhandler
