package run

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"os"

	"github.com/redeliver/redeliver/host"
	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/ops"
	"github.com/redeliver/redeliver/schemas"
)

// GetStatus tells the state of the host and what it runs.
type GetStatus struct {
	ops.Op[Status] `route:"GET /status" clock:"own"`
}

func (GetStatus) Do(_ context.Context, e *ops.Env) (Status, error) {
	st := Status{
		Version:    e.Host.Version(),
		PID:        os.Getpid(),
		App:        e.Host.Dir(),
		State:      e.Host.State(),
		Errors:     e.Host.Errors(),
		Generation: e.Host.Generation(),
		Clock:      timeNow(e),
		Journal:    e.Host.Journal().Len(),
	}
	st.Ready = st.State == host.Running
	st.Report, st.Apps = e.Report(), e.Standings()
	return st, nil
}

// Status is the state of a host and what it runs.
type Status struct {
	Version    string         `json:"version"`
	PID        int            `json:"pid"`
	App        string         `json:"app"` // absolute path of the app folder
	State      host.State     `json:"state"`
	Ready      bool           `json:"ready"`
	Errors     []string       `json:"errors,omitempty"`
	Generation int            `json:"generation"`
	Report     *app.Report    `json:"report,omitempty"` // of the running generation; of several apps all functions, as "app/function"
	Apps       []app.Standing `json:"apps,omitempty"`   // of a run that has several; the other fields are of the one that was asked
	Clock      ClockStatus    `json:"clock"`
	Journal    uint64         `json:"journal"` // sequence number of the latest record
}

// Reload loads the app again; 409 when it was refused.
type Reload struct {
	ops.Op[Reloaded] `route:"POST /reload" clock:"own"`
}

func (Reload) Do(ctx context.Context, e *ops.Env) (out Reloaded, err error) {
	if err := e.Host.Reload(ctx); err != nil {
		var load *host.LoadError
		if errors.As(err, &load) {
			err = ops.Refuse(http.StatusConflict, err.Error(), "the running app goes on unchanged")
		}
		return out, err
	}
	return Reloaded{Generation: e.Host.Generation(), State: e.Host.State()}, nil
}

// Reloaded is the result of a reload that was not refused.
type Reloaded struct {
	Generation int        `json:"generation"`
	State      host.State `json:"state"`
}

// Describe is this description, in OpenAPI 3.1.
type Describe struct {
	ops.Op[ops.Stream] `route:"GET /openapi.json" clock:"own"`
}

func (Describe) Do(context.Context, *ops.Env) (out ops.Stream, err error) {
	out.Header = http.Header{"Content-Type": {"application/json; charset=utf-8"}}
	return out.Bytes(schemas.ControlAPI()), nil
}

// Stop ends the host.
type Stop struct {
	ops.Op[ops.None] `route:"POST /stop" status:"202" clock:"own"`
}

func (Stop) Do(_ context.Context, e *ops.Env) (out ops.None, err error) {
	e.End()
	return out, nil
}

// Identify proves which host it is, to a client that knows its secret; it needs no key.
type Identify struct {
	ops.Op[Identity] `route:"GET /identity" clock:"own"`

	Challenge string `query:"challenge,required"`
}

// Do answers a challenge.
func (in Identify) Do(_ context.Context, e *ops.Env) (out Identity, err error) {
	if in.Challenge == "" {
		return out, ops.Refuse(http.StatusBadRequest, "the parameter challenge is missing", "")
	}
	return in.Answer(e.Secret), nil
}

// Identity is a host's answer to a challenge.
type Identity struct {
	Proof string `json:"proof"`
}

// Answer is the answer of a host with that secret. A client that has the secret too,
// from the host's run file, knows by it that it talks to that host and not to what has
// taken its port.
func (in Identify) Answer(secret string) Identity {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte("redeliver host\n" + in.Challenge))
	return Identity{hex.EncodeToString(mac.Sum(nil))}
}

// Proves reports whether an answer is the one of the host with that secret.
func (i Identity) Proves(secret string, in Identify) bool {
	return hmac.Equal([]byte(i.Proof), []byte(in.Answer(secret).Proof))
}
