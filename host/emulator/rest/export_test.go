package rest

import (
	"net"
	"net/http"
)

// ServeAt serves the service of that name at a listener in the place of its port.
func (s *Server) ServeAt(service string, l net.Listener) {
	for _, d := range s.fronts {
		if d.service.Name == service {
			d.addr = l.Addr().String()
			d.http.Serve(l, false)
		}
	}
}

// Front answers the requests to the service of that name.
func (s *Server) Front(service string) http.Handler {
	for _, d := range s.fronts {
		if d.service.Name == service {
			return d
		}
	}
	return nil
}
