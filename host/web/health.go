//clock:outside sockets and their callers are of the real world

package web

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// The health endpoints: live is the process, ready the app that runs (spec drift-2026
// C-15).
const healthPath = "/runtime/health"

// healthPatience is the longest wait for a healthy app that a caller may ask for.
const healthPatience = 60 * time.Second

func isHealth(path string) bool {
	switch rest, ok := strings.CutPrefix(strings.ToLower(strings.TrimSuffix(path, "/")), healthPath); rest {
	case "", "/live", "/ready":
		return ok
	}
	return false
}

// health is an answer about health, in the words of .NET.
type health struct {
	Status  string            `json:"status"`
	Entries map[string]health `json:"entries,omitempty"`
}

const (
	healthy   = "Healthy"
	unhealthy = "Unhealthy"
)

func (s *Server) serveHealth(w http.ResponseWriter, r *http.Request) {
	if !s.taken(w, r) {
		return
	}
	if s.adminLevel(r) < AdminLevel {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	var patience time.Duration
	if text := queryFold(r, "wait"); text != "" || r.URL.Query().Has("wait") {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = w.Write([]byte("'wait' query param must be a positive integer"))
			return
		}
		patience = min(time.Duration(min(n, int(healthPatience/time.Second)))*time.Second, healthPatience)
	}
	out := health{Status: healthy}
	entries := map[string]health{"azure.functions.web_host.lifecycle": {Status: healthy}}
	if !strings.HasSuffix(strings.ToLower(strings.TrimSuffix(r.URL.Path, "/")), "/live") {
		entries["azure.functions.script_host.lifecycle"] = health{Status: healthy}
		if !s.readyWithin(r.Context(), patience) {
			out.Status = unhealthy
			entries["azure.functions.script_host.lifecycle"] = health{Status: unhealthy}
		}
	}
	if strings.EqualFold(queryFold(r, "expand"), "true") {
		out.Entries = entries
	}
	status := http.StatusOK
	if out.Status != healthy {
		status = http.StatusServiceUnavailable
	}
	writeJSON(w, status, out)
}

// readyWithin reports whether the app runs, at the latest after that time.
func (s *Server) readyWithin(ctx context.Context, patience time.Duration) bool {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return s.host.AwaitRunning(ctx) == nil
}
