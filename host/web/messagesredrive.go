package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/redeliver/redeliver/host/emulator/eventgrid"
	"github.com/redeliver/redeliver/host/web/control"
	"github.com/redeliver/redeliver/host/web/view"
)

func (s *Server) redriveMessages(ctx context.Context, in view.RedriveMessages) (out control.Redriven, err error) {
	k, err := s.keeper(in.Service)
	if err != nil {
		return out, err
	}
	if k.redrive == nil {
		return out, refuse(http.StatusBadRequest, fmt.Sprintf("this cannot be done to messages of the service %s: it has no poison messages", in.Service), "")
	}
	if out, err = k.redrive(ctx, in.Entity, in.ID); err != nil {
		return out, s.meant(k.refusals, []string{in.Entity}, refusalOf(k.refusals, err))
	}
	return out, nil
}

func (s *Server) redriveOfQueue(ctx context.Context, entity, id string) (control.Redriven, error) {
	return s.redriveQueue(ctx, control.RedriveQueue{Queue: entity, ID: id})
}

func (s *Server) redriveOfBus(_ context.Context, entity, id string) (out control.Redriven, err error) {
	in := control.RedriveEntity{Path: entity}
	if id != "" {
		n, err := strconv.ParseInt(id, 10, 64)
		if err != nil || n < 0 {
			return out, refuse(http.StatusBadRequest, fmt.Sprintf("id %q: want a sequence number", id), "")
		}
		in.Sequence = []int64{n}
	}
	err = s.inside("redrive", func(ctx context.Context) (err error) {
		out, err = s.redriveEntity(ctx, in)
		return err
	})
	return out, err
}

func (s *Server) redriveOfGrid(_ context.Context, entity, id string) (control.Redriven, error) {
	topic, subscription, ok := strings.Cut(entity, "/")
	out := control.Redriven{To: entity, ID: id}
	if !ok {
		return out, refuse(http.StatusBadRequest, fmt.Sprintf("entity %q: want TOPIC/SUBSCRIPTION", entity), "")
	}
	err := s.inside("redrive", func(ctx context.Context) error {
		letters, err := s.host.Services().EventGrid().DeadLetters(ctx, topic, subscription)
		if err != nil {
			return err
		}
		for _, d := range letters {
			out.From, out.To = d.Container, d.Source()
			if id != "" && d.EventID != id {
				out.Left++
			} else if err := s.redriveLetter(ctx, &out, d); err != nil {
				return err
			}
		}
		if id != "" && out.Moved == 0 {
			return refuse(http.StatusNotFound, fmt.Sprintf("event subscription %q has no dead letter of event %q", out.To, id), "it may be moved already")
		}
		return nil
	})
	return out, err
}

// redriveLetter moves a dead letter and counts it.
func (s *Server) redriveLetter(ctx context.Context, out *control.Redriven, d *eventgrid.DeadLetter) error {
	if err := s.host.Services().EventGrid().Redrive(ctx, d); err != nil {
		if out.Moved > 0 {
			err = fmt.Errorf("%w; moved before that: %d", err, out.Moved)
		}
		return err
	}
	out.Moved++
	return s.host.Clock().Sleep(ctx, 0) // as in mover.all
}

// redriveOfContainer moves the dead letters in a container, each to its subscription.
func (s *Server) redriveOfContainer(_ context.Context, entity, id string) (control.Redriven, error) {
	out := control.Redriven{From: entity, ID: id}
	err := s.inside("redrive", func(ctx context.Context) error {
		names := []string{id}
		if id == "" {
			names = nil
			err := s.eachOfContainer(ctx, entity, func(m *view.ShownMessage, _ []byte) bool {
				names = append(names, m.ID)
				return true
			})
			if err != nil {
				return err
			}
		} else if err := blobName(entity, id); err != nil {
			return err
		}
		var to []string
		for _, name := range names {
			d, err := s.host.Services().EventGrid().DeadLetter(ctx, s.host.AppStorage(), entity, name)
			switch {
			case err != nil:
				return err
			case d == nil && id != "":
				return refuse(http.StatusConflict, fmt.Sprintf("blob %s/%s is no dead letter of an event subscription of this host", entity, id), `"redeliver ls eventgrid" lists the subscriptions`)
			case d == nil:
				continue
			}
			if err := s.redriveLetter(ctx, &out, d); err != nil {
				return err
			}
			if !slices.Contains(to, d.Source()) {
				to = append(to, d.Source())
			}
		}
		out.To = strings.Join(to, ", ")
		return nil
	})
	if _, ok := errors.AsType[*eventgrid.Error](err); ok {
		err = gridRefusal(err) // not one of blobs
	}
	return out, err
}
