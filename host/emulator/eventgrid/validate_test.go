package eventgrid_test

import (
	"encoding/json"
	"net/http"

	"github.com/redeliver/redeliver/host/emulator/eventgrid"
)

// handshake answers both kinds of handshake as the documentation asks for; 200
// to everything else.
func handshake(r *eventgrid.Request) *eventgrid.Response {
	switch r.Type {
	case eventgrid.SubscriptionValidation:
		var events []struct {
			Data struct {
				ValidationCode string `json:"validationCode"`
			} `json:"data"`
		}
		if err := json.Unmarshal(r.Body, &events); err != nil {
			return &eventgrid.Response{Status: 400}
		}
		return &eventgrid.Response{Status: 200, Body: []byte(`{"validationResponse":"` + events[0].Data.ValidationCode + `"}`)}
	case eventgrid.Handshake:
		return &eventgrid.Response{Status: 200, Header: http.Header{"Webhook-Allowed-Origin": {r.Header().Get("WebHook-Request-Origin")}}}
	}
	return &eventgrid.Response{Status: 200}
}
