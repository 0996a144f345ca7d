package amqp

import "net"

// Sort serves a connection as one of the server's ports does; the server is not started.
func (s *Server) Sort(nc net.Conn) {
	if s.requests == nil {
		s.serveRequests()
	}
	s.serving.Go(func() { s.sort(nc, false) })
}
