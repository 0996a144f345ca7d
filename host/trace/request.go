package trace

import (
	"net/url"
	"strings"

	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/triggers"
)

// The fields of a request beside its method and path, which are its source. The query, in
// which a key may be, is not kept.
const (
	routeField  = "http_route"
	schemeField = "http_scheme"
	hostField   = "http_host"
)

// A Request is what the journal keeps of a request over HTTP for its span.
type Request struct{ Method, Path, Scheme, Host, Route string }

// RequestOf is the request of a record of kind received.
func RequestOf(r *journal.Record) (q Request) {
	q.Method, q.Path, _ = strings.Cut(r.Source, " ")
	for _, f := range r.Fields {
		switch f.Key {
		case routeField:
			q.Route = f.Value
		case schemeField:
			q.Scheme = f.Value
		case hostField:
			q.Host = f.Value
		}
	}
	return q
}

// requestFields are what RequestOf reads.
func requestFields(ev *triggers.Event) (fields []journal.Field) {
	if len(ev.Messages) != 1 || ev.Messages[0].Value.HTTP == nil {
		return nil
	}
	req := ev.Messages[0].Value.HTTP
	u, err := url.Parse(req.URL)
	if err != nil {
		return nil
	}
	for _, f := range []journal.Field{{Key: schemeField, Value: u.Scheme}, {Key: hostField, Value: u.Host}, {Key: routeField, Value: req.Route}} {
		if f.Value != "" {
			fields = append(fields, f)
		}
	}
	return fields
}
