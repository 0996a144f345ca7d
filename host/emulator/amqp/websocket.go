//clock:outside a server waits for sockets; nodes enter the clock

package amqp

import (
	"net/http"
	"strings"

	"github.com/coder/websocket"
)

// webSocketPath is where clients that speak AMQP over WebSockets find it.
const webSocketPath = "/$servicebus/websocket"

// webSocketSubprotocols are the names that clients send: the service's own, and
// the standard one, which the examples of the client for Go use.
var webSocketSubprotocols = []string{"AMQPWSB10", "amqp"} // read only

// Handler serves AMQP over WebSockets, and leaves other requests to next;
// nil answers them 404. It does not check the origin of pages.
func (s *Server) Handler(next http.Handler) http.Handler {
	if next == nil {
		next = http.NotFoundHandler()
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.enter() {
			panic(http.ErrAbortHandler)
		}
		defer s.serving.Done()
		if strings.EqualFold(strings.TrimSuffix(r.URL.Path, "/"), webSocketPath) {
			s.serveWebSocket(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (s *Server) serveWebSocket(w http.ResponseWriter, r *http.Request) {
	c, err := websocket.Accept(w, r, &websocket.AcceptOptions{
		Subprotocols:       webSocketSubprotocols,
		InsecureSkipVerify: true, // of the origin, which is another's to look at
	})
	if err != nil {
		return // and Accept has answered
	}
	if c.Subprotocol() == "" {
		c.Close(websocket.StatusPolicyViolation, "want one of the sub-protocols "+strings.Join(webSocketSubprotocols, ", "))
		return
	}
	// The request's context ends with the request, and so with this call.
	s.ServeConn(websocket.NetConn(r.Context(), c, websocket.MessageBinary))
}
