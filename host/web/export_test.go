package web

import (
	"net"
	"net/http"
)

// MostStreams is how many may read the journal at once.
const MostStreams = mostStreams

// Handler is the handler of the server's listeners, for requests that no test can
// send, from other machines.
func (s *Server) Handler() http.Handler { return s.server.Handler }

// ServeAt serves what comes to a listener in the place of the server's own.
func (s *Server) ServeAt(l net.Listener) { s.server.Serve(l, false) }
