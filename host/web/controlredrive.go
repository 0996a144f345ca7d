package web

import (
	"context"

	"github.com/redeliver/redeliver/host/redrive"
	"github.com/redeliver/redeliver/host/web/control"
)

func (s *Server) redriveQueue(ctx context.Context, in control.RedriveQueue) (control.Redriven, error) {
	var done redrive.Done
	err := s.inside("redrive", func(within context.Context) (err error) {
		done, err = redrive.Messages(within, s.host, in.Queue, in.To, in.ID, ctx.Err)
		return err
	})
	return control.Redriven{From: in.Queue, To: done.To, ID: in.ID, NewID: done.NewID, Moved: done.Moved, Left: done.Left}, err
}
