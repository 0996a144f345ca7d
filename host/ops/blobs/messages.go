package blobs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/blob"
	grid "github.com/redeliver/redeliver/host/emulator/eventgrid"
	"github.com/redeliver/redeliver/host/ops"
	"github.com/redeliver/redeliver/host/ops/eventgrid"
)

// redrive moves the dead letters in a container, each to its subscription.
func redrive(_ context.Context, e *ops.Env, entity, id string) (ops.Redriven, error) {
	out := ops.Redriven{From: entity, ID: id}
	err := e.Inside("redrive", func(ctx context.Context) error {
		names := []string{id}
		if id == "" {
			names = nil
			err := each(ctx, e, entity, func(m *ops.ShownMessage, _ []byte) bool {
				names = append(names, m.ID)
				return true
			})
			if err != nil {
				return err
			}
		} else if err := checkNames(entity, id); err != nil {
			return err
		}
		var to []string
		for _, name := range names {
			d, err := e.Host.Services().EventGrid().DeadLetter(ctx, e.Host.AppStorage(), entity, name)
			switch {
			case err != nil:
				return err
			case d == nil && id != "":
				return ops.Refuse(http.StatusConflict, fmt.Sprintf("blob %s/%s is no dead letter of an event subscription of this host", entity, id), `"redeliver ls eventgrid" lists the subscriptions`)
			case d == nil:
				continue
			}
			if err := eventgrid.RedriveLetter(ctx, e, &out, d); err != nil {
				return err
			}
			if !slices.Contains(to, d.Source()) {
				to = append(to, d.Source())
			}
		}
		out.To = strings.Join(to, ", ")
		return nil
	})
	if _, ok := errors.AsType[*grid.Error](err); ok {
		err = eventgrid.Refusal(err) // not one of blobs
	}
	return out, err
}

func each(ctx context.Context, e *ops.Env, entity string, visit func(*ops.ShownMessage, []byte) bool) error {
	if err := blob.ValidateContainerName(entity); err != nil {
		return err
	}
	opts := &blob.ListOptions{}
	for {
		page, err := e.Host.AppStorage().Container(entity).Blobs(ctx, opts)
		if err != nil {
			return err
		}
		for i := range page.Blobs {
			b := &page.Blobs[i]
			shown := &ops.ShownMessage{
				ID: b.Name, State: "visible", Enqueued: b.Properties.LastModified, Size: b.Properties.ContentLength,
				Properties: map[string]string{"contentType": b.Properties.Headers.ContentType, "etag": b.Properties.ETag},
			}
			body, err := deadLetter(ctx, e, entity, shown)
			if err != nil {
				return err
			}
			if !visit(shown, body) {
				return nil
			}
		}
		if opts.Marker = page.NextMarker; opts.Marker == "" {
			return nil
		}
		if err := e.Host.Clock().Sleep(ctx, 0); err != nil { // as in containerInfo
			return err
		}
	}
}

// deadLetter says of a blob that is a dead letter of Event Grid where its event came
// from, and why.
func deadLetter(ctx context.Context, e *ops.Env, container string, shown *ops.ShownMessage) (body []byte, err error) {
	d, err := e.Host.Services().EventGrid().DeadLetter(ctx, e.Host.AppStorage(), container, shown.ID)
	if errors.Is(err, bindings.ErrNotFound) {
		return nil, nil // it has gone meanwhile
	} else if d == nil || err != nil {
		return nil, err
	}
	shown.MessageID, shown.Origin, shown.Reason = d.EventID, d.Source(), d.Reason
	return d.Body, nil
}

// body reads a little more of a blob than is shown.
func body(ctx context.Context, e *ops.Env, entity, id string) ([]byte, error) {
	if err := checkNames(entity, id); err != nil {
		return nil, err
	}
	got, err := e.Host.AppStorage().Container(entity).Blob(id).Get(ctx, nil)
	if errors.Is(err, bindings.ErrNotFound) {
		return nil, ops.Gone(entity, id)
	} else if err != nil {
		return nil, err
	}
	defer got.Body.Close()
	return io.ReadAll(io.LimitReader(got.Body, ops.MostOfBody+1))
}
