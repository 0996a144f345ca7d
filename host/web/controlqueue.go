package web

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/redeliver/redeliver/bindings"
)

// QueueInfo is a queue of the embedded storage account.
type QueueInfo struct {
	Name  string `json:"name"`
	Count int    `json:"count"` // visible and invisible messages
}

// Message is a queue message as the control API shows it.
type Message struct {
	ID           string    `json:"id"`
	DequeueCount int64     `json:"dequeueCount"`
	Inserted     time.Time `json:"inserted"`
	Expires      time.Time `json:"expires,omitzero"`

	// Text is what the service holds; Body is the decoded body when it is text,
	// Binary (base64) when it is not. Undecodable says why neither is there.
	Text        string  `json:"text"`
	Body        *string `json:"body,omitempty"`
	Binary      []byte  `json:"binary,omitempty"`
	Undecodable string  `json:"undecodable,omitempty"`
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
func (s *Server) encoding() bindings.Encoding {
	if a := s.host.App(); a != nil {
		return bindings.Encoding(a.Config.Queues.MessageEncoding)
	}
	return bindings.Base64
}

// inside runs a call of a service under the host's clock.
func (s *Server) inside(name string, f func(ctx context.Context) error) error {
	var err error
	s.host.Clock().Inside(name, func() { err = f(context.Background()) })
	return err
}

func (s *Server) listQueues(w http.ResponseWriter, r *http.Request) {
	list := struct {
		Queues []QueueInfo `json:"queues"`
	}{Queues: []QueueInfo{}}
	err := s.inside("list queues", func(ctx context.Context) error {
		names, err := s.host.Storage().Queues(ctx)
		if err != nil {
			return err
		}
		for _, name := range names {
			n, err := s.host.Storage().Queue(name).Count(ctx)
			if err != nil {
				return err
			}
			list.Queues = append(list.Queues, QueueInfo{Name: name, Count: n})
		}
		return nil
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
		writeReadError(w, err)
		return
	}
	query := r.URL.Query()
	var opts bindings.PutOptions
	if v := query.Get("visibility"); v != "" {
		if opts.Visibility, err = time.ParseDuration(v); err != nil || opts.Visibility < 0 {
			writeError(w, http.StatusBadRequest, "visibility must be a duration of 0 or more", `for instance "30s"`)
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
	var put *bindings.QueueMessage
	err = s.inside("send", func(ctx context.Context) (err error) {
		put, err = bindings.PutOrCreate(ctx, s.host.Storage().Queue(r.PathValue("name")), text, &opts)
		return err
	})
	if err != nil {
		queueError(w, err)
		return
	}
	put.Text = text
	writeJSON(w, http.StatusCreated, s.show(put))
}

func (s *Server) peek(w http.ResponseWriter, r *http.Request) {
	most := bindings.MaxReceive
	if v := r.URL.Query().Get("max"); v != "" {
		n, err := strconv.Atoi(v)
		if err != nil || n < 1 || n > bindings.MaxReceive {
			writeError(w, http.StatusBadRequest, "max must be a number from 1 to 32", "")
			return
		}
		most = n
	}
	out := Peeked{Queue: r.PathValue("name"), Messages: []Message{}}
	err := s.inside("peek", func(ctx context.Context) error {
		q := s.host.Storage().Queue(out.Queue)
		found, err := q.Peek(ctx, most)
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
		queueError(w, err)
		return
	}
	writeJSON(w, http.StatusOK, out)
}

func (s *Server) clear(w http.ResponseWriter, r *http.Request) {
	err := s.inside("clear", func(ctx context.Context) error {
		return s.host.Storage().Queue(r.PathValue("name")).Clear(ctx)
	})
	if err != nil {
		queueError(w, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// show decodes a message as the app would.
func (s *Server) show(m *bindings.QueueMessage) Message {
	out := Message{ID: m.ID, DequeueCount: m.DequeueCount, Inserted: m.Inserted, Expires: m.Expires, Text: m.Text}
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
			writeError(w, row.status, err.Error(), "")
			return
		}
	}
	writeError(w, http.StatusInternalServerError, err.Error(), "")
}
