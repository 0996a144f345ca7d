package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/redeliver/redeliver/bindings"
	eventhubsapi "github.com/redeliver/redeliver/bindings/eventhubs"
	"github.com/redeliver/redeliver/bindings/messaging"
	"github.com/redeliver/redeliver/host/emulator/eventhubs"
	"github.com/redeliver/redeliver/host/emulator/servicebus/duration"
)

// NewHub is the body of a request that makes a hub. What is missing has the service's
// defaults.
type NewHub struct {
	Partitions     int      `json:"partitions,omitempty"`
	Retention      string   `json:"retention,omitempty"`      // of events, ISO 8601: "PT1H"
	ConsumerGroups []string `json:"consumerGroups,omitempty"` // beside $Default
}

// HubCreated is a hub that was made.
type HubCreated struct {
	Name           string   `json:"name"`
	Partitions     int      `json:"partitions"`
	Retention      string   `json:"retention"`
	ConsumerGroups []string `json:"consumerGroups"` // $Default is the first
}

// GroupCreated is a consumer group that was made.
type GroupCreated struct {
	Hub           string `json:"hub"`
	ConsumerGroup string `json:"consumerGroup"`
}

func (s *Server) createHub(w http.ResponseWriter, r *http.Request) {
	var body NewHub
	if !readSettings(w, r, &body) {
		return
	}
	hub := eventhubs.Hub{Name: r.URL.Query().Get("hub"), Partitions: body.Partitions, ConsumerGroups: body.ConsumerGroups}
	if body.Retention != "" {
		var err error
		if hub.Retention, err = duration.Parse(body.Retention); err != nil || hub.Retention <= 0 {
			writeError(w, http.StatusBadRequest, fmt.Sprintf("retention %q: want a duration above 0, such as PT1H", body.Retention), "")
			return
		}
	}
	var out HubCreated
	err := s.inside("create hub "+hub.Name, func(ctx context.Context) error {
		if err := s.host.Services().EventHubs().CreateHub(ctx, hub); err != nil {
			return err
		}
		made, err := s.host.Services().EventHubs().Settings(ctx, hub.Name)
		if err == nil {
			out = hubCreated(made)
		}
		return err
	})
	if errors.Is(err, bindings.ErrAlreadyExists) && s.host.Services().EventHubs().Has(hub.Name) {
		e := messaging.ErrorOf(err)
		writeError(w, e.Status, e.Text, fmt.Sprintf("a hub keeps its partitions and retention; \"redeliver create eventhub %s/ConsumerGroups/NAME\" adds a consumer group", hub.Name))
		return
	}
	if err != nil {
		hubError(w, err)
		return
	}
	writeJSON(w, http.StatusCreated, out)
}

func hubCreated(h eventhubs.Hub) HubCreated {
	return HubCreated{
		Name: h.Name, Partitions: h.Partitions, Retention: duration.Format(h.Retention.Round(time.Millisecond)),
		ConsumerGroups: append([]string{eventhubsapi.DefaultConsumerGroup}, h.ConsumerGroups...),
	}
}

func (s *Server) createGroup(w http.ResponseWriter, r *http.Request) {
	out := GroupCreated{Hub: r.URL.Query().Get("hub"), ConsumerGroup: r.URL.Query().Get("group")}
	err := s.inside("create consumer group "+out.ConsumerGroup, func(ctx context.Context) error {
		return s.host.Services().EventHubs().CreateConsumerGroup(ctx, out.Hub, out.ConsumerGroup)
	})
	if err != nil {
		hubError(w, err)
		return
	}
	writeJSON(w, http.StatusCreated, out)
}
