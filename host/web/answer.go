package web

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/redeliver/redeliver/host/ops"
)

func writeError(w http.ResponseWriter, status int, message, hint string) {
	writeJSON(w, status, ops.Error{Text: message, Hint: hint})
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	text, err := json.Marshal(v)
	if err != nil { // answers always marshal
		panic(err)
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(text) // a caller that has gone needs no answer
}

// unauthorized answers a request below /admin without a key that it needs (observed of the platform's
// host 4.1037).
func unauthorized(w http.ResponseWriter, r *http.Request) {
	challenge := "Bearer"
	if scheme, _, _ := strings.Cut(r.Header.Get("Authorization"), " "); strings.EqualFold(scheme, challenge) {
		challenge += ` error="invalid_token"`
	}
	w.Header().Set("WWW-Authenticate", challenge)
	w.WriteHeader(http.StatusUnauthorized)
}
