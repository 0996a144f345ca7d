package app

import "github.com/redeliver/redeliver/schemas"

// HandlerKind says what runs the functions of an app.
type HandlerKind string

// The kinds of handlers.
const (
	// NoHandler: nothing in the folder runs functions; they may still be
	// registered in process.
	NoHandler HandlerKind = "none"
	// GoSource: a Go program to build.
	GoSource HandlerKind = "goSource"
	// Executable: a prebuilt plugin.
	Executable HandlerKind = "executable"
	// Custom: an HTTP custom handler.
	Custom HandlerKind = "custom"
	// Language: a language worker (Node, Python, ...).
	Language HandlerKind = "language"
)

// HandlerSpec is the result of discovering the handler of an app.
type HandlerSpec struct {
	Kind HandlerKind

	// Path is the absolute path of the main package (GoSource) or of the
	// executable; a bare name is looked up in PATH by whoever starts it.
	Path string

	// Runtime is FUNCTIONS_WORKER_RUNTIME in lower case, "" when unset.
	Runtime string

	// Arguments and WorkingDirectory (absolute) are for an Executable.
	Arguments        []string
	WorkingDirectory string

	// Fingerprint stands for the content of the handler: the Go files, go.mod
	// and go.sum, or the executable. While it stays equal nothing has to be
	// built or restarted.
	Fingerprint string

	// Fault is set when this handler cannot be served.
	Fault *schemas.Fault
}
