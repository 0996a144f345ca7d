package web

import (
	"encoding/json"
	"errors"
	"net/http"

	"github.com/redeliver/redeliver/host/emulator/store"
	"github.com/redeliver/redeliver/host/web/control"
)

func writeError(w http.ResponseWriter, status int, message, hint string) {
	writeJSON(w, status, control.Error{Text: message, Hint: hint})
}

// noRoom answers a request that finds no room on the disk for what it wants to keep,
// and reports whether it was one. Every service's requests get this answer.
func noRoom(w http.ResponseWriter, err error) bool {
	if !errors.Is(err, store.ErrDiskFull) {
		return false
	}
	writeError(w, http.StatusInsufficientStorage, "no space is left on the disk that has the data of the host", "make room there; nothing has changed")
	return true
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	text, err := json.Marshal(v)
	if err != nil { // the values of this package always marshal
		panic(err)
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(append(text, '\n')) // a caller that has gone needs no answer
}
