package web

import "net/http"

// Handler is what the server's listeners serve, for requests that no test can send:
// those of other machines.
func (s *Server) Handler() http.Handler { return s.handler }
