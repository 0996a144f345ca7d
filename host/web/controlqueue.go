package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/queue"
)

// Message is a queue message as the control API shows it.
type Message struct {
	ID           string    `json:"id"`
	DequeueCount int64     `json:"dequeueCount"`
	Inserted     time.Time `json:"inserted"`
	Expires      time.Time `json:"expires,omitzero"`
	NextVisible  time.Time `json:"nextVisible,omitzero"` // only of a message that is not visible

	// Text is what the service holds; Body is the decoded body when it is text,
	// Binary (base64) when it is not. Undecodable says why neither is there.
	Text        string  `json:"text"`
	Body        *string `json:"body,omitempty"`
	Binary      []byte  `json:"binary,omitempty"`
	Undecodable string  `json:"undecodable,omitempty"`

	// LastError is the failure that brought a message into its poison queue, where
	// the host has seen it: host.Host.PoisonError.
	LastError string `json:"lastError,omitempty"`
}

// Peeked is the visible part of a queue. Count also counts what is invisible: in
// work, waiting for its redelivery, or delayed.
type Peeked struct {
	Queue    string    `json:"queue"`
	Count    int       `json:"count"`
	Messages []Message `json:"messages"`
}

// encoding is what the app says of bodies; the platform's default before an app
// runs.
func (s *Server) encoding() queue.Encoding {
	if a := s.host.App(); a != nil {
		return queue.Encoding(a.Config.Queues.MessageEncoding)
	}
	return queue.Base64
}

// inside runs a call of a service under the host's clock.
func (s *Server) inside(name string, f func(ctx context.Context) error) error {
	var err error
	s.host.Clock().Inside(name, func() { err = f(context.Background()) })
	return err
}

func (s *Server) listQueues(w http.ResponseWriter, r *http.Request) {
	var list struct {
		Queues []QueueInfo `json:"queues"`
	}
	err := s.inside("list queues", func(ctx context.Context) (err error) {
		list.Queues, err = s.queueInfos(ctx)
		return err
	})
	if err != nil {
		queueError(w, err)
		return
	}
	writeJSON(w, http.StatusOK, list)
}

func (s *Server) send(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		controlReadError(w, err)
		return
	}
	query := r.URL.Query()
	var opts queue.PutOptions
	if v := query.Get("visibility"); v != "" {
		if opts.Visibility, err = time.ParseDuration(v); err != nil || opts.Visibility < 0 {
			writeError(w, http.StatusBadRequest, "visibility must be a duration of 0 or more", `for instance "30s"`)
			return
		}
	}
	if v := query.Get("ttl"); v != "" {
		if opts.TTL, err = timeToLive(v); err != nil {
			writeError(w, http.StatusBadRequest, err.Error(), `for instance "10m"`)
			return
		}
	}
	text := string(body)
	if raw, _ := strconv.ParseBool(query.Get("raw")); !raw {
		text = s.encoding().Encode(body)
	} else if !utf8.Valid(body) {
		writeError(w, http.StatusBadRequest, "a raw message must be text in UTF-8", "")
		return
	}
	var put *queue.Message
	err = s.inside("send", func(ctx context.Context) (err error) {
		put, err = queue.PutOrCreate(ctx, s.host.AppStorage().Queue(r.PathValue("name")), text, &opts)
		return err
	})
	if errors.Is(err, bindings.ErrTooLarge) && len(text) > len(body) {
		writeError(w, http.StatusRequestEntityTooLarge, err.Error(), sizeHint(len(body)))
		return
	}
	if err != nil {
		queueError(w, err)
		return
	}
	put.Text = text
	if opts.Visibility == 0 {
		put.NextVisible = time.Time{}
	}
	writeJSON(w, http.StatusCreated, s.show(put))
}

// sizeHint says why a body of so many bytes does not fit in Base64.
func sizeHint(body int) string {
	hint := fmt.Sprintf("the body has %d bytes before Base64; %d bytes fit", body, queue.MaxMessageText/4*3)
	if body <= queue.MaxMessageText {
		hint += ": --raw (raw=true) sends the body as it is, for an app whose messageEncoding is none"
	}
	return hint
}

// timeToLive reads the life of a message.
func timeToLive(v string) (time.Duration, error) {
	if v == "never" {
		return queue.NeverExpires, nil
	}
	d, err := time.ParseDuration(v)
	if err != nil || d < time.Second {
		return 0, errors.New(`ttl must be a duration of 1s or more, or "never"`)
	}
	return d, nil
}

func (s *Server) peek(w http.ResponseWriter, r *http.Request) {
	most := queue.MaxReceive
	if v := r.URL.Query().Get("max"); v != "" {
		n, err := strconv.Atoi(v)
		if err != nil || n < 1 || n > queue.MaxReceive {
			writeError(w, http.StatusBadRequest, "max must be a number from 1 to 32", "")
			return
		}
		most = n
	}
	out := Peeked{Queue: r.PathValue("name"), Messages: []Message{}}
	err := s.inside("peek", func(ctx context.Context) error {
		q := s.host.AppStorage().Queue(out.Queue)
		found, err := s.look(ctx, q, r.URL.Query().Get("id"), most)
		if err != nil {
			return err
		}
		for _, m := range found {
			out.Messages = append(out.Messages, s.show(m))
		}
		out.Count, err = q.Count(ctx)
		return err
	})
	if err != nil {
		storageError(w, err)
		return
	}
	writeJSON(w, http.StatusOK, out)
}

// look returns visible messages, or the one message with an identifier, visible
// or not.
func (s *Server) look(ctx context.Context, q queue.Queue, id string, most int) ([]*queue.Message, error) {
	if id == "" {
		return q.Peek(ctx, most)
	}
	m, err := s.host.AppStorage().QueueMessage(ctx, q.Name(), id)
	if err != nil {
		return nil, err
	}
	if !m.NextVisible.After(s.host.Clock().Now()) {
		m.NextVisible = time.Time{}
	}
	return []*queue.Message{m}, nil
}

// Purged says how many messages a queue held when it was emptied.
type Purged struct {
	Queue   string `json:"queue"`
	Removed int    `json:"removed"`
}

func (s *Server) clear(w http.ResponseWriter, r *http.Request) {
	out := Purged{Queue: r.PathValue("name")}
	err := s.inside("clear", func(ctx context.Context) (err error) {
		q := s.host.AppStorage().Queue(out.Queue)
		if out.Removed, err = q.Count(ctx); err != nil {
			return err
		}
		return q.Clear(ctx)
	})
	if err != nil {
		queueError(w, err)
		return
	}
	writeJSON(w, http.StatusOK, out)
}

// show decodes a message as the app would.
func (s *Server) show(m *queue.Message) Message {
	out := Message{ID: m.ID, DequeueCount: m.DequeueCount, Inserted: m.Inserted, Expires: m.Expires, NextVisible: m.NextVisible, Text: m.Text, LastError: s.host.PoisonError(m.ID)}
	body, err := s.encoding().Decode(m.Text)
	switch {
	case err != nil:
		out.Undecodable = err.Error()
	case utf8.Valid(body):
		text := string(body)
		out.Body = &text
	default:
		out.Binary = body
	}
	return out
}

// queueError answers with the service's own condition.
func queueError(w http.ResponseWriter, err error) {
	for _, row := range []struct {
		err    error
		status int
	}{
		{bindings.ErrNotFound, http.StatusNotFound},
		{bindings.ErrInvalidName, http.StatusBadRequest},
		{bindings.ErrOutOfRange, http.StatusBadRequest},
		{bindings.ErrTooLarge, http.StatusRequestEntityTooLarge},
	} {
		if errors.Is(err, row.err) {
			hint := ""
			if row.status == http.StatusNotFound {
				hint = `"redeliver ls" lists queues and containers`
			}
			writeError(w, row.status, err.Error(), hint)
			return
		}
	}
	if !noRoom(w, err) {
		writeError(w, http.StatusInternalServerError, err.Error(), "")
	}
}
