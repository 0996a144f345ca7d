package web

import (
	"net/http"

	"github.com/redeliver/redeliver/host/web/control"
)

// boundRoutes adds the operations that are not in the table yet.
func (s *Server) boundRoutes(own *http.ServeMux) {
	handle := func(method, path string, h http.HandlerFunc) {
		own.HandleFunc(method+" "+control.Prefix+path, func(w http.ResponseWriter, r *http.Request) {
			limit := int64(control.MaxBody)
			switch {
			case method == http.MethodPut && path == "/containers/{container}/blob":
				limit = -1
			case method == http.MethodPost && path == "/cosmos/documents":
				limit = maxDocuments
			}
			h(w, limited(w, r, limit))
		})
	}
	handle("GET", "/inventory", s.inventory)
	handle("GET", "/queues", s.embedded(s.listQueues))
	handle("POST", "/queues/{name}/messages", s.embedded(s.send))
	handle("GET", "/queues/{name}/messages", s.embedded(s.peek))
	handle("DELETE", "/queues/{name}/messages", s.embedded(s.clear))
	handle("POST", "/queues/{name}/redrive", s.embedded(s.redrive))
	handle("PUT", "/containers/{container}/blob", s.embedded(s.upload))
	handle("GET", "/containers/{container}/blob", s.embedded(s.download))
	s.busRoutes(handle)
	s.gridRoutes(handle)
	s.cosmosRoutes(handle)
	s.outputRoutes(handle)
}

func (s *Server) embedded(h http.HandlerFunc) http.HandlerFunc { return s.embeddedIn("storage", h) }

func (s *Server) embeddedIn(service string, h http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if err := s.elsewhere(service); err != nil {
			writeJSON(w, http.StatusConflict, err)
			return
		}
		h(w, r)
	}
}

// controlReadError answers a request whose body could not be read.
func controlReadError(w http.ResponseWriter, err error) {
	refusal := unread(err)
	writeJSON(w, refusal.Status, refusal)
}
