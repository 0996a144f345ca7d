package httptrigger

import (
	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/triggers"
)

// Message returns what a function receives of a request: for calls that come in
// by another way than Serve, such as the admin API's.
func Message(req *bindings.HTTPRequest) triggers.Message { return event(req).Messages[0] }
