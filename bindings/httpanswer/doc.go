// Package httpanswer makes the answer to an HTTP request of what a function gave, as the
// platform's host does: the same bytes, status and headers.
//
// Read [From] first, for what was given to the http output as one value, then [Parts],
// for a worker that sends its parts, and [OfResult], for a function without an output.
//
// Left out: how the answer is sent, and answers in XML.
package httpanswer
