package web

import (
	"context"
	_ "embed"
	"io"
	"net/http"
	"strings"
)

//go:embed homepage.html
var homePage string

// homePage answers requests for "/" that no function takes, whatever their method (host:
// HomepageMiddleware.cs).
func (s *Server) homePage(w http.ResponseWriter) {
	if a := s.host.App(); a != nil && strings.EqualFold(a.Settings.Get("AzureWebJobsDisableHomepage"), "true") {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	w.Header().Set("Content-Type", "text/html")
	_, _ = io.WriteString(w, homePage) // a caller that has gone needs no answer
}

// warmUp answers the platform's call before an instance takes requests, which needs no
// key. The first one runs the app's warm-up function, and is answered when that has ended,
// however it has (host: WebScriptHostHttpRoutesManager.cs, ScriptJobHostExtensions.cs;
// observed of the platform's host 4.1037).
func (s *Server) warmUp(w http.ResponseWriter, r *http.Request) {
	if err := s.host.Ready(r.Context()); err != nil {
		s.refuse(w, err)
		return
	}
	a := s.host.App()
	if a == nil {
		return
	}
	if f := a.WarmUp(); f != nil && s.warmed.CompareAndSwap(false, true) {
		_, _ = s.host.Invoke(context.WithoutCancel(r.Context()), f.Name, "") // the journal tells
	}
}
