package web

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/redeliver/redeliver/host/web/control"
	"github.com/redeliver/redeliver/host/web/view"
)

// The most that is shown of a body: in a list, in characters, and alone, in bytes.
const (
	previewLength = 256
	mostOfBody    = 1 << 20
)

// TruncatedHeader is a header of a body that is longer than what is shown.
const TruncatedHeader = "X-Redeliver-Truncated"

// A keeper is an embedded service that keeps messages, as the page shows them.
type keeper struct {
	refusals string // the word under which its errors are told, see refusalOf
	needs    string // see Server.elsewhere

	// each visits the messages of an entity, until visit returns false. visit must not
	// keep the body.
	each func(ctx context.Context, entity string, visit func(m *view.ShownMessage, body []byte) bool) error

	body            func(ctx context.Context, entity, id string) ([]byte, error)                  // nil: as each has it
	again           func(ctx context.Context, entity, messageID string) (newID string, err error) // sends a message once more; nil: it cannot
	release, poison hand                                                                          // nil: there is no such thing

	redrive func(ctx context.Context, entity, id string) (control.Redriven, error) // nil: there is no such thing
}

// hand does something to a message, and says where that is then.
type hand func(ctx context.Context, m view.MessageMoved) (view.MessageMoved, error)

// keepers are the services by their names in the API.
func (s *Server) keepers() map[string]keeper {
	return map[string]keeper{
		"queue":      {refusals: "queues", needs: "storage", each: s.eachOfQueue, again: s.againOfQueue, release: s.releaseOfQueue, poison: s.poisonOfQueue, redrive: s.redriveOfQueue},
		"servicebus": {refusals: "servicebus", needs: "servicebus", each: s.eachOfBus, again: s.againOfBus, release: s.releaseOfBus, poison: s.poisonOfBus, redrive: s.redriveOfBus},
		"eventgrid":  {refusals: "eventgrid", each: s.eachOfGrid, release: s.releaseOfGrid, poison: s.poisonOfGrid, redrive: s.redriveOfGrid},
		"eventhub":   {refusals: "eventhubs", needs: "eventhubs", each: s.eachOfHub},
		"cosmos":     {refusals: "cosmos", each: s.eachOfCosmos},
		"blob":       {refusals: "containers", needs: "storage", each: s.eachOfContainer, body: s.bodyOfBlob, redrive: s.redriveOfContainer},
	}
}

// keeper is the service of that name, if its data is in this host.
func (s *Server) keeper(name string) (keeper, error) {
	k, ok := s.keepers()[name]
	if !ok {
		return k, refuse(http.StatusBadRequest, fmt.Sprintf("service %q: want queue, servicebus, eventgrid, eventhub, cosmos or blob", name), "")
	}
	return k, s.elsewhere(k.needs)
}

// told is an error of the service as a caller is told of it.
func (k keeper) told(err error) error {
	if err == nil {
		return nil
	}
	return refusalOf(k.refusals, err)
}

func (s *Server) messages(ctx context.Context, in view.ListMessages) (view.Messages, error) {
	out := view.Messages{Messages: []view.ShownMessage{}}
	k, err := s.keeper(in.Service)
	if err != nil {
		return out, err
	}
	var states []string
	if in.States != "" {
		states = strings.Split(in.States, ",")
	}
	search := strings.ToLower(in.Search)
	err = k.each(ctx, in.Entity, func(m *view.ShownMessage, body []byte) bool {
		if len(states) > 0 && !slices.Contains(states, m.State) || search != "" && !mentions(m, body, search) {
			return true
		}
		if len(out.Messages) == in.Limit {
			out.More = true
			return false
		}
		describeBody(m, body)
		out.Messages = append(out.Messages, *m)
		return true
	})
	return out, k.told(err)
}

// mentions reports whether a text in lower case stands in a message.
func mentions(m *view.ShownMessage, body []byte, text string) bool {
	has := func(in string) bool { return strings.Contains(strings.ToLower(in), text) }
	if has(m.ID) || has(m.MessageID) || has(m.Reason) || utf8.Valid(body) && has(string(body)) {
		return true
	}
	for name, value := range m.Properties {
		if has(name) || has(value) {
			return true
		}
	}
	return false
}

// describeBody shows the beginning of a body.
func describeBody(m *view.ShownMessage, body []byte) {
	if body == nil {
		return // of a blob, whose size is known
	}
	m.Size = int64(len(body))
	if m.Binary = !utf8.Valid(body); m.Binary {
		return
	}
	n := 0
	for i := range string(body) {
		if n == previewLength {
			body = body[:i]
			break
		}
		n++
	}
	m.Preview = string(body)
}

func (s *Server) messageBody(w http.ResponseWriter, _ *http.Request, in view.ReadBody) error {
	k, err := s.keeper(in.Service)
	if err != nil {
		return err
	}
	var text []byte
	err = s.inside("ReadBody", func(ctx context.Context) (err error) {
		if k.body != nil {
			text, err = k.body(ctx, in.Entity, in.ID)
			return err
		}
		found := false
		err = k.each(ctx, in.Entity, func(m *view.ShownMessage, body []byte) bool {
			if m.ID == in.ID {
				found, text = true, slices.Clone(body)
			}
			return !found
		})
		if err == nil && !found {
			err = gone(in.Entity, in.ID)
		}
		return err
	})
	if err != nil {
		return k.told(err)
	}
	if len(text) > mostOfBody {
		text = text[:mostOfBody]
		w.Header().Set(TruncatedHeader, "true")
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Disposition", "attachment")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	_, _ = w.Write(text) // a caller that has gone needs no answer
	return nil
}

// gone refuses an operation on a message that is not there.
func gone(entity, id string) error {
	return refuse(http.StatusNotFound, fmt.Sprintf("%s has no message %q: it is gone, or was never there", entity, id), "")
}

func (s *Server) releaseMessage(ctx context.Context, in view.ReleaseMessage) (view.MessageMoved, error) {
	return s.byHand(ctx, view.MessageMoved{MessageName: in.MessageName}, "nothing holds what it keeps", func(k keeper) hand { return k.release })
}

func (s *Server) poisonMessage(ctx context.Context, in view.PoisonMessage) (view.MessageMoved, error) {
	return s.byHand(ctx, view.MessageMoved{MessageName: in.MessageName}, "it has no poison messages", func(k keeper) hand { return k.poison })
}

func (s *Server) byHand(ctx context.Context, m view.MessageMoved, without string, of func(keeper) hand) (view.MessageMoved, error) {
	k, err := s.keeper(m.Service)
	if err != nil {
		return m, err
	}
	do := of(k)
	switch {
	case do == nil:
		return m, refuse(http.StatusBadRequest, fmt.Sprintf("this cannot be done to messages of the service %s: %s", m.Service, without), "")
	case m.ID == "":
		return m, refuse(http.StatusBadRequest, "id is missing", "GET /messages lists the messages of an entity")
	}
	m, err = do(ctx, m)
	return m, k.told(err)
}
