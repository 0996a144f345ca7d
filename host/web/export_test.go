package web

import (
	"net"
)

// MostStreams is how many may read the journal at once.
const MostStreams = mostStreams

// MostPages is how many of them may be told lives.
const MostPages = mostPages

// ServeAt serves what comes to a listener in the place of the server's own.
func (s *Server) ServeAt(l net.Listener) { s.server.Serve(l, false) }
