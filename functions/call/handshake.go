package call

import "math"

// Constants that both sides of the go-plugin handshake share. The cookie is a
// courtesy, not a secret: with it a handler can tell that it was started by hand.
const (
	CookieKey   = "REDELIVER_HANDLER"
	CookieValue = "d0f6a2a5c1b74b6c9e3f-redeliver-handler"

	// PluginName is the name under which the Handler service is dispensed.
	PluginName = "handler"

	// ProtocolVersion is the version of the Handler service; go-plugin picks
	// the highest that both sides have.
	ProtocolVersion = 2

	// HostPIDVariable names the environment variable in which the host tells
	// its process ID, so that a handler can notice that its parent is gone.
	HostPIDVariable = "REDELIVER_HOST_PID"

	// MaxMessageSize is the limit of one gRPC message in both directions, in
	// bytes. The platform's host uses the same; gRPC's own 4 MiB is less than
	// one large payload.
	MaxMessageSize = math.MaxInt32
)
