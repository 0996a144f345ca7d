package eventgrid

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/redeliver/redeliver/host/clock"
)

// ValidationLimit is how long a validation URL is good for.
const ValidationLimit = 5 * time.Minute

// validate shakes hands with the web hook of a subscription that is about to be
// made, and sets its state. Only a web hook that does not answer at all, or a
// CloudEvents one that does not consent, is refused; one that answers otherwise may
// fetch the validation URL.
func (g *Grid) validate(ctx context.Context, s *subscription) error {
	s.state = Active
	if s.Endpoint == "" {
		return nil
	}
	if s.schema == CloudEventSchema {
		return s.shakeHands(ctx, g.clk)
	}
	g.mu.Lock()
	s.code = strings.ToUpper(g.ids.GUID().String())
	event := marshal([]map[string]any{{
		"id": g.ids.GUID().String(), "topic": s.topic.Resource, "subject": "",
		"data":      map[string]string{"validationCode": s.code, "validationUrl": s.validationURL(g.url)},
		"eventType": "Microsoft.EventGrid.SubscriptionValidationEvent", "eventTime": g.now().Format(timeLayout),
		"metadataVersion": "1", "dataVersion": "2",
	}})
	g.mu.Unlock()
	resp, err := s.ask(ctx, g.clk, &Request{
		Type: SubscriptionValidation, Subscription: s.upper, ContentType: "application/json; charset=utf-8",
		DataVersion: "2", MetadataVersion: "1", Body: event, Extra: s.DeliveryHeaders,
	})
	if err != nil {
		return badRequest("event subscription %q of topic %q: the validation handshake with %s failed: %v", s.Name, s.topic.Name, s.Endpoint, err)
	}
	var answer struct {
		ValidationResponse string `json:"validationResponse"`
	}
	if resp.Status == http.StatusOK && json.Unmarshal(resp.Body, &answer) == nil && strings.EqualFold(answer.ValidationResponse, s.code) {
		s.code = ""
		return nil
	}
	s.state, s.until = AwaitingManualAction, g.now().Add(ValidationLimit)
	return nil
}

// ask makes a request of a handshake, within the response limit.
func (s *subscription) ask(ctx context.Context, clk clock.Clock, r *Request) (*Response, error) {
	ctx, cancel := clk.WithTimeout(ctx, ResponseLimit)
	defer cancel()
	return s.endpoint.Deliver(ctx, r)
}

// shakeHands asks a web hook for CloudEvents whether it wants to be called.
func (s *subscription) shakeHands(ctx context.Context, clk clock.Clock) error {
	resp, err := s.ask(ctx, clk, &Request{Type: Handshake, Subscription: s.upper, Extra: s.DeliveryHeaders})
	if err == nil && resp.Status != http.StatusOK {
		err = fmt.Errorf("it answered %d", resp.Status)
	}
	if err == nil {
		if allowed := resp.Header.Get("WebHook-Allowed-Origin"); allowed != "*" && !strings.EqualFold(allowed, Origin) {
			err = fmt.Errorf("its WebHook-Allowed-Origin is %q", allowed)
		}
	}
	if err != nil {
		return badRequest("event subscription %q of topic %q: the handshake with %s failed: %v", s.Name, s.topic.Name, s.Endpoint, err)
	}
	return nil
}

// validationURL is where a web hook that cannot answer in the right way says that
// it wants the events.
func (s *subscription) validationURL(server string) string {
	return server + "/" + url.PathEscape(s.topic.Name) + "/validate?" + url.Values{"id": {s.code}, "subscription": {s.Name}}.Encode()
}

// Validate completes a validation: the validation URL was fetched. It fails
// with status 404 for a code that is not known, and 400 for one that has expired.
func (g *Grid) Validate(topicName, subscription, code string) error {
	return g.change(g.ctx, func() error {
		t, err := g.state.topic(topicName)
		if err != nil {
			return err
		}
		s := t.find(subscription)
		if s == nil || s.code == "" || !strings.EqualFold(s.code, code) {
			return notFound("there is no validation of this code")
		}
		s.expireLocked(g.now())
		if s.state == ValidationFailed {
			return badRequest("the validation URL was good for %s only", ValidationLimit)
		}
		s.state, s.code = Active, ""
		g.writing.saveSubscription(s)
		return nil
	})
}

// expireLocked ends a validation whose time is over.
func (s *subscription) expireLocked(now time.Time) {
	if s.state == AwaitingManualAction && now.After(s.until) {
		s.state = ValidationFailed
	}
}
