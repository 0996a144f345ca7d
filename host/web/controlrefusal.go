package web

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/messaging"
	"github.com/redeliver/redeliver/bindings/storage"
	"github.com/redeliver/redeliver/host"
	"github.com/redeliver/redeliver/host/emulator/eventgrid"
	"github.com/redeliver/redeliver/host/emulator/store"
	"github.com/redeliver/redeliver/host/listen"
	"github.com/redeliver/redeliver/host/recorded"
	"github.com/redeliver/redeliver/host/redrive"
	"github.com/redeliver/redeliver/host/web/api"
)

func refuse(status int, text, hint string) *api.Error {
	return &api.Error{Status: status, Text: text, Hint: hint}
}

// badRequest refuses a request for what it says.
func badRequest(err error) *api.Error { return refuse(http.StatusBadRequest, err.Error(), "") }

// unread refuses a request whose body could not be read.
func unread(err error) *api.Error {
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		return refuse(http.StatusRequestEntityTooLarge, fmt.Sprintf("too large: a request has at most %d bytes, blobs and saved states excepted", tooLarge.Limit), "")
	}
	return badRequest(fmt.Errorf("the request was not complete: %w", err))
}

// refusals are what callers are told of errors of the embedded services, by the first
// word of an operation's path.
var refusals = map[string]func(err error) *api.Error{
	"inventory":  storageRefusal,
	"queues":     storageRefusal,
	"containers": storageRefusal,
	"servicebus": messagingRefusal(`"redeliver ls servicebus" lists the entities; "redeliver create servicebus NAME" makes a queue`),
	"eventhubs":  messagingRefusal(`"redeliver ls eventhubs" lists the hubs; functions, redeliver.eventHubs in host.json and "redeliver create eventhub" make them`),
	"eventgrid":  gridRefusal,
	"cosmos":     cosmosRefusal,
	"state":      stateRefusal,
}

// refusalOf is what a caller is told of an error of an operation.
func refusalOf(service string, err error) *api.Error {
	var refused *api.Error
	var body *listen.BodyError
	var stays *redrive.Refusal
	ofService, ok := refusals[service]
	switch {
	case errors.As(err, &refused):
		return refused
	case errors.As(err, &stays):
		return redriveRefusal(stays)
	case errors.As(err, &body):
		return unread(err)
	case !ok:
		return hostRefusal(err)
	case errors.Is(err, store.ErrDiskFull) && service != "state":
		return refuse(http.StatusInsufficientStorage, "no space is left on the disk that has the data of the host", "make room there; nothing has changed")
	}
	return ofService(err)
}

func redriveRefusal(r *redrive.Refusal) *api.Error {
	if r.Message {
		return refuse(http.StatusConflict, r.Text, r.Hint)
	}
	return refuse(http.StatusBadRequest, r.Text, r.Hint)
}

func writeRefusal(w http.ResponseWriter, service string, err error) {
	refusal := refusalOf(service, err)
	writeJSON(w, refusal.Status, refusal)
}

// hostRefusal says what the host had to say.
func hostRefusal(err error) *api.Error {
	switch {
	case errors.Is(err, host.ErrUnknownFunction):
		return refuse(http.StatusNotFound, err.Error(), `"redeliver ls functions" lists the functions`)
	case errors.Is(err, recorded.ErrUnknown):
		return refuse(http.StatusNotFound, err.Error(), `"redeliver ls outputs" lists the recorded outputs; an output is named FUNCTION or FUNCTION/BINDING`)
	case errors.Is(err, host.ErrNotRunning):
		return refuse(http.StatusServiceUnavailable, err.Error(), "")
	}
	return badRequest(err)
}

// stateRefusal says why a state did not take the place of another, which stays.
func stateRefusal(err error) *api.Error {
	const unchanged = "nothing has changed"
	var tooLarge *http.MaxBytesError
	var corrupt *store.CorruptError
	var version *store.VersionError
	switch {
	case errors.As(err, &tooLarge):
		return refuse(http.StatusRequestEntityTooLarge, fmt.Sprintf("a saved state has at most %d bytes", tooLarge.Limit), "")
	case errors.As(err, &corrupt):
		return refuse(http.StatusBadRequest, `this is not a file of "redeliver state save", or it is damaged: `+corrupt.Error(), unchanged)
	case errors.As(err, &version):
		return refuse(http.StatusBadRequest, version.Error(), unchanged)
	case errors.Is(err, store.ErrDiskFull):
		return refuse(http.StatusInsufficientStorage, err.Error(), unchanged)
	}
	return refuse(http.StatusInternalServerError, err.Error(), "")
}

// messagingRefusal tells the condition of a service over AMQP; missing is the hint for
// a caller who asks for what is not there.
func messagingRefusal(missing string) func(err error) *api.Error {
	return func(err error) *api.Error {
		e := messaging.ErrorOf(err)
		out := refuse(e.Status, e.Text, "")
		if out.Text == "" {
			out.Text = err.Error()
		}
		switch {
		case errors.Is(err, bindings.ErrTooLarge):
			out.Status = http.StatusRequestEntityTooLarge
		case errors.Is(err, bindings.ErrNotFound):
			out.Hint = missing
		case errors.Is(err, bindings.ErrMessageNotFound):
			out.Hint = `"redeliver peek servicebus ENTITY" shows the sequence numbers`
		case errors.Is(err, messaging.ErrSessionLockLost):
			out.Text, out.Status = "the session is not locked", http.StatusConflict
		}
		return out
	}
}

// storageRefusal is the condition of queues and blobs.
func storageRefusal(err error) *api.Error {
	var blob *storage.Error
	var target *redrive.NoTargetError
	var invisible *redrive.InvisibleError
	text := err.Error()
	switch {
	case errors.As(err, &target):
		return refuse(http.StatusNotFound, text, "nothing was moved; name another target with --to")
	case errors.As(err, &invisible):
		return refuse(http.StatusConflict, text, "")
	case errors.Is(err, bindings.ErrMessageNotFound):
		return refuse(http.StatusNotFound, text, "")
	case errors.As(err, &blob):
		return refuse(blob.Status, text, "")
	case errors.Is(err, bindings.ErrNotFound):
		return refuse(http.StatusNotFound, text, `"redeliver ls" lists queues and containers`)
	case errors.Is(err, bindings.ErrInvalidName), errors.Is(err, bindings.ErrOutOfRange):
		return refuse(http.StatusBadRequest, text, "")
	case errors.Is(err, bindings.ErrTooLarge):
		return refuse(http.StatusRequestEntityTooLarge, text, "")
	}
	return refuse(http.StatusInternalServerError, text, "")
}

// gridRefusal is the condition of Event Grid.
func gridRefusal(err error) *api.Error {
	e, ok := errors.AsType[*eventgrid.Error](err)
	switch {
	case !ok:
		return refuse(http.StatusServiceUnavailable, err.Error(), "")
	case e.Status == http.StatusNotFound:
		return refuse(e.Status, e.Message, `"redeliver ls eventgrid" lists the topics; "redeliver create eventgrid TOPIC" makes a topic`)
	case errors.Is(err, eventgrid.ErrNoContainer):
		return refuse(e.Status, e.Message, `an upload makes its container: "redeliver upload CONTAINER/NAME FILE"`)
	}
	return refuse(e.Status, e.Message, "")
}

// cosmosRefusal is the condition of Cosmos DB.
func cosmosRefusal(err error) *api.Error {
	text := err.Error()
	switch {
	case errors.Is(err, bindings.ErrNotFound):
		return refuse(http.StatusNotFound, text, `"redeliver ls cosmos" lists the containers; case counts in names`)
	case errors.Is(err, bindings.ErrAlreadyExists), errors.Is(err, bindings.ErrConditionNotMet):
		return refuse(http.StatusConflict, text, "")
	case errors.Is(err, bindings.ErrTooLarge):
		return refuse(http.StatusRequestEntityTooLarge, text, "")
	case errors.Is(err, bindings.ErrInvalidName):
		return refuse(http.StatusBadRequest, text, "a container is named DATABASE/CONTAINER")
	case errors.Is(err, bindings.ErrInvalidArgument):
		return refuse(http.StatusBadRequest, text, "")
	case errors.Is(err, bindings.ErrUnavailable):
		return refuse(http.StatusServiceUnavailable, text, "")
	}
	return refuse(http.StatusInternalServerError, text, "")
}
