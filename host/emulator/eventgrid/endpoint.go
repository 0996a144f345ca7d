package eventgrid

import (
	"context"
	"net/http"
	"strconv"
)

// Endpoint is where a subscription's events go. It is implemented by web hooks, by
// the host for its functions, and by tests.
type Endpoint interface {
	// Deliver makes one request and returns the answer, of any status. An
	// error means that there was none: a *net.DNSError for a name that means
	// nothing, context.DeadlineExceeded for a wait that was given up,
	// ErrInvalidFunction, anything else for a connection that could not be made or
	// broke.
	//
	// It is called inside the clock, several times at once, and may wait for as
	// long as it likes: the Grid keeps the response limit itself. ctx ends when the
	// Grid is closed. The request must not be changed.
	Deliver(ctx context.Context, r *Request) (*Response, error)
}

// Response is an endpoint's answer.
type Response struct {
	Status int
	Header http.Header // of a handshake; nil otherwise
	Body   []byte      // the beginning of it, at most 64 KiB
}

// RequestType is the header aeg-event-type.
type RequestType string

// The types of requests.
const (
	Notification           RequestType = "Notification"
	SubscriptionValidation RequestType = "SubscriptionValidation"
	Handshake              RequestType = "" // the OPTIONS request of CloudEvents
)

// Request is one request to an endpoint.
type Request struct {
	Type            RequestType
	Subscription    string  // in upper case
	Source          string  // the subscription as the journal names it
	Numbers         []int64 // of the events, at the service
	DeliveryCount   int     // from 0
	DataVersion     string
	MetadataVersion string
	ContentType     string
	Extra           map[string]string // the subscription's own headers
	Body            []byte
}

// Method is POST, or OPTIONS for the handshake of CloudEvents.
func (r *Request) Method() string {
	if r.Type == Handshake {
		return http.MethodOptions
	}
	return http.MethodPost
}

// Origin is the sender in the handshake of CloudEvents.
const Origin = "eventgrid.azure.net"

// Header makes the headers of the request.
func (r *Request) Header() http.Header {
	h := http.Header{}
	for name, value := range r.Extra {
		h.Set(name, value)
	}
	if r.Type == Handshake {
		h.Set("WebHook-Request-Origin", Origin)
		return h
	}
	h.Set("Content-Type", r.ContentType)
	// The platform writes these names in lower case; over HTTP it makes no
	// difference.
	h.Set("Aeg-Event-Type", string(r.Type))
	h.Set("Aeg-Subscription-Name", r.Subscription)
	h.Set("Aeg-Delivery-Count", strconv.Itoa(r.DeliveryCount))
	h.Set("Aeg-Data-Version", r.DataVersion)
	h.Set("Aeg-Metadata-Version", r.MetadataVersion)
	return h
}
