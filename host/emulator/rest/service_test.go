package rest_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/redeliver/redeliver/bindings/storage"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/rest"
)

// toys is a service with one operation: what a further service of the account has to say.
func toys() *rest.Service {
	count := &rest.Operation{Name: "CountToys", Resource: "s", AccountSAS: "l", Run: func(c *rest.Call) error {
		b := rest.AppendElement([]byte(rest.XMLHeader), "Toys", "3")
		return c.Answer(http.StatusOK, b)
	}}
	return &rest.Service{
		Name: "toy", Letter: 'q', Endpoint: "ToyEndpoint",
		Port:   func(o *rest.Options) int { return o.QueuePort },
		Serves: func(*rest.Account) bool { return true },
		Route: func(c *rest.Call) (*rest.Operation, *rest.Error) {
			if len(c.Path) > 0 {
				return nil, rest.ErrResourceNotFound()
			}
			return count, nil
		},
		Properties: func(context.Context, *rest.Stored) (p storage.ServiceProperties, err error) { return p, nil },
	}
}

// A service of a storage account has keys, host names, versions, request ids and errors from
// what all have in common.
func TestToyService(t *testing.T) {
	t.Parallel()
	clk := clock.NewVirtual(start, &clock.VirtualOptions{Strict: true})
	account := rest.Account{Name: rest.DevAccount, Keys: []string{rest.DevKey}}
	server, err := rest.NewServer(clk, &rest.Options{Accounts: []rest.Account{account}}, toys())
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{}
	b := &bench{T: t, clk: clk, server: server, client: &http.Client{Transport: transport}, endpoint: server.URL("toy") + "/" + rest.DevAccount}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})

	if got, want := server.ConnectionString(account), "ToyEndpoint="+b.endpoint+";"; got[len(got)-len(want):] != want {
		t.Errorf("connection string %q, want it to end in %q", got, want)
	}
	a := b.want(http.StatusOK, "", "GET", "", "")
	if want := `<?xml version="1.0" encoding="utf-8"?><Toys>3</Toys>`; a.Body != want {
		t.Errorf("body %q, want %q", a.Body, want)
	}
	for name, want := range map[string]string{"X-Ms-Version": "2021-12-02", "Server": "Redeliver-toy"} {
		if got := a.Header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if a.Header.Get("X-Ms-Request-Id") == "" {
		t.Error("no request id")
	}
	wrong := b.request("GET", "", "")
	wrong.Header.Set("Authorization", "SharedKey "+rest.DevAccount+":AAAA")
	if a := b.send(wrong); a.Status != http.StatusForbidden || a.Code != "AuthenticationFailed" {
		t.Errorf("with a wrong signature: %d %s", a.Status, a.Code)
	}
	b.want(http.StatusNotFound, "ResourceNotFound", "GET", "/shelf", "")
	if a := b.send(b.request("GET", "", "")); a.Status != http.StatusUnauthorized || a.Code != "NoAuthenticationInformation" {
		t.Errorf("without a key: %d %s", a.Status, a.Code)
	}
}
