package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/blob"
	"github.com/redeliver/redeliver/host/emulator/eventgrid"
	"github.com/redeliver/redeliver/host/web/control"
	"github.com/redeliver/redeliver/host/web/view"
)

func (s *Server) eachOfGrid(_ context.Context, entity string, visit func(*view.ShownMessage, []byte) bool) error {
	topic, subscription, _ := strings.Cut(entity, "/")
	grid := s.host.Services().EventGrid()
	if _, err := grid.Topic(topic); err != nil {
		return err
	}
	for _, d := range grid.Deliveries(topic, subscription) {
		shown := &view.ShownMessage{
			ID: d.Topic + "/" + d.Subscription + "/" + d.EventID, MessageID: d.EventID, State: "waiting", DeliveryCount: int64(len(d.Attempts)),
			Enqueued: d.Published, VisibleAt: d.Next, Expires: d.Expires, Reason: string(d.Reason),
			Properties: map[string]string{"eventType": d.EventType, "subject": d.Subject, "subscription": d.Subscription},
		}
		switch {
		case d.Next.IsZero():
			shown.State = "sending"
		case d.Reason != "" && d.Reason != eventgrid.TimeToLiveExceeded:
			shown.State = "dead"
		case shown.Reason == "":
			shown.Reason = string(d.Outcome)
		}
		if !visit(shown, d.Body) {
			return nil
		}
	}
	return nil
}

func (s *Server) releaseOfGrid(ctx context.Context, m view.MessageMoved) (view.MessageMoved, error) {
	return m, handOfGrid(m, func(topic, subscription, event string) error {
		return s.host.Services().EventGrid().Retry(ctx, topic, subscription, event)
	})
}

func (s *Server) poisonOfGrid(ctx context.Context, m view.MessageMoved) (view.MessageMoved, error) {
	return m, handOfGrid(m, func(topic, subscription, event string) error {
		return s.host.Services().EventGrid().GiveUp(ctx, topic, subscription, event)
	})
}

func handOfGrid(m view.MessageMoved, do func(topic, subscription, event string) error) error {
	parts := strings.SplitN(m.ID, "/", 3)
	if len(parts) < 3 {
		return refuse(http.StatusBadRequest, fmt.Sprintf("id %q: want TOPIC/SUBSCRIPTION/EVENT", m.ID), "")
	}
	return do(parts[0], parts[1], parts[2])
}

func (s *Server) eachOfHub(ctx context.Context, entity string, visit func(*view.ShownMessage, []byte) bool) error {
	hubs := s.host.Services().EventHubs()
	hub, err := hubs.Hub(ctx, entity)
	if err != nil {
		return err
	}
	for _, partition := range hub.Partitions {
		events, err := hubs.Kept(ctx, entity, partition)
		if err != nil {
			return err
		}
		for _, e := range events {
			shown := &view.ShownMessage{
				ID: partition + "/" + strconv.FormatInt(e.SequenceNumber, 10), MessageID: e.MessageID, State: "visible", Enqueued: e.EnqueuedTime,
				Properties: map[string]string{"partition": partition},
			}
			for name, value := range e.Properties {
				shown.Properties[name] = fmt.Sprint(plainValue(value))
			}
			if e.PartitionKey != nil {
				shown.Properties["partitionKey"] = *e.PartitionKey
			}
			if !visit(shown, e.Body) {
				return nil
			}
		}
	}
	return nil
}

func (s *Server) eachOfCosmos(ctx context.Context, entity string, visit func(*view.ShownMessage, []byte) bool) error {
	spec := specOf(control.NewContainer{Container: entity})
	c, err := s.host.Services().Cosmos().Container(ctx, spec.Database, spec.Name)
	if err != nil {
		return err
	}
	items, err := c.Items(ctx, "")
	for _, item := range items {
		shown := &view.ShownMessage{ID: item.ID, State: "visible", Enqueued: item.Modified, Properties: map[string]string{}}
		if item.Key != "" {
			shown.Properties["partitionKey"] = string(item.Key)
		}
		if !visit(shown, item.Body) {
			break
		}
	}
	return err
}

func (s *Server) eachOfContainer(ctx context.Context, entity string, visit func(*view.ShownMessage, []byte) bool) error {
	if err := blob.ValidateContainerName(entity); err != nil {
		return err
	}
	opts := &blob.ListOptions{}
	for {
		page, err := s.host.AppStorage().Container(entity).Blobs(ctx, opts)
		if err != nil {
			return err
		}
		for i := range page.Blobs {
			b := &page.Blobs[i]
			shown := &view.ShownMessage{
				ID: b.Name, State: "visible", Enqueued: b.Properties.LastModified, Size: b.Properties.ContentLength,
				Properties: map[string]string{"contentType": b.Properties.Headers.ContentType, "etag": b.Properties.ETag},
			}
			body, err := s.deadLetter(ctx, entity, shown)
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
		if err := s.host.Clock().Sleep(ctx, 0); err != nil { // as in containerInfo
			return err
		}
	}
}

// deadLetter says of a blob that is a dead letter of Event Grid where its event came
// from, and why.
func (s *Server) deadLetter(ctx context.Context, container string, shown *view.ShownMessage) (body []byte, err error) {
	d, err := s.host.Services().EventGrid().DeadLetter(ctx, s.host.AppStorage(), container, shown.ID)
	if errors.Is(err, bindings.ErrNotFound) {
		return nil, nil // it has gone meanwhile
	} else if d == nil || err != nil {
		return nil, err
	}
	shown.MessageID, shown.Origin, shown.Reason = d.EventID, d.Source(), d.Reason
	return d.Body, nil
}

// bodyOfBlob reads a little more of a blob than is shown.
func (s *Server) bodyOfBlob(ctx context.Context, entity, id string) ([]byte, error) {
	if err := blobName(entity, id); err != nil {
		return nil, err
	}
	got, err := s.host.AppStorage().Container(entity).Blob(id).Get(ctx, nil)
	if errors.Is(err, bindings.ErrNotFound) {
		return nil, gone(entity, id)
	} else if err != nil {
		return nil, err
	}
	defer got.Body.Close()
	return io.ReadAll(io.LimitReader(got.Body, mostOfBody+1))
}
