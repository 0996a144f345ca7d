package rest

import "net"

// ServeAt serves the service of that name at a listener in the place of its port.
func (s *Server) ServeAt(service string, l net.Listener) {
	for _, d := range s.fronts {
		if d.service.name == service {
			d.addr = l.Addr().String()
			d.http.Serve(l, false)
		}
	}
}
