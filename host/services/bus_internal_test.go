package services

import (
	"testing"

	"github.com/redeliver/redeliver/host/app/appsettings"
)

// The connection strings that mean the embedded Service Bus namespace, served
// at the usual port, elsewhere, or nowhere; and the strings that handlers get.
func TestServiceBusConnection(t *testing.T) {
	t.Parallel()
	const rest = ";SharedAccessKeyName=k;SharedAccessKey=s=;UseDevelopmentEmulator=true;"
	at := func(addresses ...string) *Connections {
		c := NewConnections(nil, nil, &ConnectionOptions{})
		for _, a := range addresses {
			c.ServiceBusAt(a)
		}
		return c
	}
	untold, told, moved, closed := at(), at("sb://127.0.0.1:5672"), at("sb://127.0.0.1:4000"), at("")
	for _, tt := range []struct {
		value                string
		usual, moved, closed bool
		given                string // with the server moved; empty: as it is
		wanted               bool
	}{
		{"Endpoint=sb://localhost" + rest, true, true, true, "Endpoint=sb://127.0.0.1:4000" + rest, true},
		{"UseDevelopmentEmulator=TRUE; endpoint = sb://127.0.0.1/", true, true, true, "UseDevelopmentEmulator=TRUE;Endpoint=sb://127.0.0.1:4000", true},
		{"Endpoint=sb://localhost:5672" + rest, true, false, false, "", true},
		{"Endpoint=sb://[::1]:4000" + rest, false, true, false, "", false},
		{"Endpoint=sb://localhost;SharedAccessKeyName=k", false, false, false, "", false},
		{"Endpoint=sb://host.docker.internal" + rest, false, false, false, "", false},
		{"UseDevelopmentEmulator=true", false, false, false, "", false},
		{"UseDevelopmentStorage=true", false, false, false, "", false},
	} {
		for _, h := range []struct {
			name string
			c    *Connections
			want bool
		}{{"none", untold, tt.usual}, {"usual", told, tt.usual}, {"moved", moved, tt.moved}, {"closed", closed, tt.closed}} {
			if got := h.c.IsEmbeddedNamespace(appsettings.Connection{Value: tt.value}); got != h.want {
				t.Errorf("server %s: %q is embedded: %v, want %v", h.name, tt.value, got, h.want)
			}
			want := tt.value
			if h.name == "moved" && tt.given != "" {
				want = tt.given
			}
			if got := h.c.Setting(tt.value); got != want {
				t.Errorf("server %s: handlers are given %q, want %q", h.name, got, want)
			}
		}
		if got := EmulatorConnection(tt.value); got != tt.wanted {
			t.Errorf("EmulatorConnection(%q) = %v, want %v", tt.value, got, tt.wanted)
		}
	}
}
