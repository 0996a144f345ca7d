//clock:outside sockets and their callers are of the real world

package web

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"github.com/redeliver/redeliver/host"
)

// hostInfo is the state of the host as the admin API shows it (host:
// HostStatus.cs). Members without a value are left out.
type hostInfo struct {
	ID              string       `json:"id,omitempty"`
	State           host.State   `json:"state"`
	Version         string       `json:"version,omitempty"`
	VersionDetails  string       `json:"versionDetails,omitempty"`
	PlatformVersion string       `json:"platformVersion"`
	InstanceID      string       `json:"instanceId,omitempty"`
	ComputerName    string       `json:"computerName"`
	ProcessUptime   int64        `json:"processUptime"` // ms
	Errors          []string     `json:"errors,omitempty"`
	ContentEditing  string       `json:"functionAppContentEditingState"`
	ExtensionBundle *bundleEntry `json:"extensionBundle,omitempty"`
}

type bundleEntry struct {
	ID      string `json:"id"`
	Version string `json:"version"`
}

// hostStatus answers in every state.
func (s *Server) hostStatus(w http.ResponseWriter, r *http.Request) {
	info := hostInfo{
		ID:             s.host.ID(),
		State:          s.host.State(),
		Version:        s.host.Version(),
		VersionDetails: s.host.Version(),
		InstanceID:     s.id,
		ProcessUptime:  time.Since(s.born).Milliseconds(),
		Errors:         s.host.Errors(),
		ComputerName:   os.Getenv("COMPUTERNAME"), // which Windows sets
		ContentEditing: "Unknown",                 // as outside the cloud
	}
	if a := s.host.App(); a != nil {
		if b := a.Config.ExtensionBundle; b != nil {
			info.ExtensionBundle = &bundleEntry{ID: b.ID, Version: b.Version}
		}
	}
	writeJSON(w, http.StatusOK, info)
}

func (s *Server) ping(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store,no-cache")
	w.Header().Set("Pragma", "no-cache")
	w.WriteHeader(http.StatusOK)
}

func (s *Server) drain(w http.ResponseWriter, r *http.Request) {
	if err := s.host.Drain(r.Context()); err != nil {
		s.refuse(w, err)
		return
	}
	w.WriteHeader(http.StatusAccepted)
}

func (s *Server) drainStatus(w http.ResponseWriter, r *http.Request) {
	status, err := s.host.DrainStatus()
	if err != nil {
		s.refuse(w, err)
		return
	}
	writeJSON(w, http.StatusOK, status)
}

// resume ends a drain by a restart; without a drain there is nothing to do
// (host: HostController.cs Resume).
func (s *Server) resume(w http.ResponseWriter, r *http.Request) {
	status, err := s.host.DrainStatus()
	if err == nil && status.State != host.DrainDisabled {
		err = s.host.Resume(r.Context())
	}
	switch {
	case errors.Is(err, host.ErrNotRunning) || s.host.State() != host.Running:
		w.WriteHeader(http.StatusConflict)
	case err != nil:
		writeError(w, http.StatusInternalServerError, err.Error(), "")
	default:
		writeJSON(w, http.StatusOK, struct {
			State host.State `json:"state"`
		}{s.host.State()})
	}
}

// restart replaces the running generation. A host that is in error tries to
// load the app again. The result stands in the journal and in the host's
// status; the answer is 200 (host: HostController.cs Restart).
func (s *Server) restart(w http.ResponseWriter, r *http.Request) {
	if err := s.host.Restart(r.Context()); errors.Is(err, host.ErrNotRunning) {
		_ = s.host.Reload(r.Context()) // refusals are in the journal
	}
	writeJSON(w, http.StatusOK, struct {
		ReadOnly       bool `json:"isFileSystemReadOnly"`
		RunFromPackage bool `json:"isScmRunFromPackage"`
	}{})
}

// syncTriggers does nothing: triggers are known where they run.
func (s *Server) syncTriggers(w http.ResponseWriter, r *http.Request) {
	writeJSON(w, http.StatusOK, map[string]string{"status": "success"})
}

// logEntry is a log line that a client wants written (host: HostLogEntry.cs).
type logEntry struct {
	Level        any    `json:"level"`
	Message      string `json:"message"`
	Source       string `json:"source"`
	FunctionName string `json:"functionName"`
}

func (s *Server) hostLog(w http.ResponseWriter, r *http.Request) {
	var entries []logEntry
	if err := json.NewDecoder(r.Body).Decode(&entries); err != nil || entries == nil {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, "An array of log entry objects is expected.")
		return
	}
	for _, e := range entries {
		line := s.opts.Logger.WithLevel(logLevel(e.Level)).Str("component", "client")
		if e.FunctionName != "" {
			line = line.Str("function", e.FunctionName)
		}
		if e.Source != "" {
			line = line.Str("source", e.Source)
		}
		line.Msg(e.Message)
	}
	w.WriteHeader(http.StatusOK)
}

// logLevel reads a level by the platform's name or number.
func logLevel(v any) zerolog.Level {
	levels := [...]zerolog.Level{zerolog.TraceLevel, zerolog.DebugLevel, zerolog.InfoLevel, zerolog.WarnLevel, zerolog.ErrorLevel, zerolog.ErrorLevel}
	switch v := v.(type) {
	case float64:
		if i := int(v); i >= 0 && i < len(levels) {
			return levels[i]
		}
	case string:
		for i, name := range [...]string{"trace", "debug", "information", "warning", "error", "critical"} {
			if strings.EqualFold(v, name) {
				return levels[i]
			}
		}
	}
	return zerolog.InfoLevel
}

// instanceID returns a fresh identifier of this process, in the platform's form.
func instanceID() string {
	var b [32]byte
	rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}
