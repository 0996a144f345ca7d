package app_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/app/appsettings"
)

// Section 6.4.
func TestLocalSettings(t *testing.T) {
	t.Parallel()
	a := load(t, map[string]string{"local.settings.json": `{
		// comments are fine
		"isEncrypted": "false",
		"Values": {"A": "file", "B": "file", "Number": 5, "Flag": true, "Empty": "", "Null": null, "": "x"},
		"ConnectionStrings": {"Db": "plain", "Big": {"ConnectionString": "object", "ProviderName": "p"}},
		"Host": {"LocalHttpPort": 8080, "LocalHttpAddress": "0.0.0.0", "CORS": "http://a,http://b", "CORSCredentials": true},
	}`}, &app.Options{InProcess: true, Env: map[string]string{"a": "environment"}})
	wantNoFaults(t, a)
	want := map[string]string{
		"a": "environment", "B": "file", "Number": "5", "Flag": "true", "Empty": "",
		"ConnectionStrings:Db": "plain", "ConnectionStrings:Big": "object",
	}
	if diff := cmp.Diff(want, a.Settings.All()); diff != "" {
		t.Errorf("settings (-want +got):\n%s", diff)
	}
	delete(want, "a")
	if diff := cmp.Diff(want, a.Settings.Local()); diff != "" {
		t.Errorf("settings of the file (-want +got):\n%s", diff)
	}
	host := appsettings.LocalHost{Port: 8080, Address: "0.0.0.0", CORS: []string{"http://a", "http://b"}, CORSCredentials: true}
	if diff := cmp.Diff(host, a.Local); diff != "" {
		t.Errorf("Host section (-want +got):\n%s", diff)
	}
	if len(a.Warnings) != 3 { // A, Null, ""
		t.Errorf("got %d warnings, want 3: %v", len(a.Warnings), a.Warnings)
	}
	if v, ok := a.Settings.Lookup("b"); v != "file" || !ok {
		t.Errorf("Lookup ignores no case: %q, %v", v, ok)
	}
}

func TestLocalSettingsMissing(t *testing.T) {
	t.Parallel()
	a := load(t, map[string]string{"local.settings.json": "-"}, nil)
	if !a.OK() || len(a.Warnings) > 0 || len(a.Settings.All()) > 0 {
		t.Errorf("got faults %v, warnings %v, settings %v", a.Faults, a.Warnings, a.Settings.All())
	}
}

// The file is read once per process: a reload passes the settings on, their
// faults included.
func TestSettingsAreKept(t *testing.T) {
	t.Parallel()
	first := load(t, map[string]string{"local.settings.json": `{"IsEncrypted": false, "Values": {"X": "1"}, "Host": {"LocalHttpPort": 1234}}`}, nil)
	second := load(t, map[string]string{"local.settings.json": `not even JSON`}, &app.Options{InProcess: true, Settings: first.Settings})
	if got := second.Settings.Get("x"); got != "1" || second.Local.Port != 1234 || len(second.Warnings) > 0 {
		t.Errorf("got X %q, port %d, warnings %v", got, second.Local.Port, second.Warnings)
	}
	encrypted := load(t, map[string]string{"local.settings.json": `{"Values": {}}`}, nil)
	again := load(t, nil, &app.Options{InProcess: true, Settings: encrypted.Settings})
	if encrypted.OK() || again.OK() {
		t.Errorf("encrypted settings: OK %v, after a reload %v, want false", encrypted.OK(), again.OK())
	}
}

// spec storage 13.
func TestConnection(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		env  map[string]string
		ask  string
		want appsettings.Connection
		ok   bool
	}{
		{name: "prefixed", env: map[string]string{"AzureWebJobsMain": "v"}, ask: "Main", want: appsettings.Connection{Setting: "AzureWebJobsMain", Value: "v"}, ok: true},
		{name: "plain", env: map[string]string{"Main": "v"}, ask: "main", want: appsettings.Connection{Setting: "main", Value: "v"}, ok: true},
		{name: "already prefixed", env: map[string]string{"AzureWebJobsStorage": "v"}, ask: "AzureWebJobsStorage", want: appsettings.Connection{Setting: "AzureWebJobsStorage", Value: "v"}, ok: true},
		{
			name: "order", ask: "Main", ok: true, want: appsettings.Connection{Setting: "ConnectionStrings:AzureWebJobsMain", Value: "1"},
			env: map[string]string{"ConnectionStrings__AzureWebJobsMain": "1", "AzureWebJobsMain": "2", "ConnectionStrings:Main": "3", "Main": "4"},
		},
		{
			name: "order, second", ask: "Main", ok: true, want: appsettings.Connection{Setting: "AzureWebJobsMain", Value: "2"},
			env: map[string]string{"AzureWebJobsMain": "2", "ConnectionStrings:Main": "3", "Main": "4"},
		},
		{
			name: "order, third", ask: "Main", ok: true, want: appsettings.Connection{Setting: "ConnectionStrings:Main", Value: "3"},
			env: map[string]string{"ConnectionStrings:Main": "3", "Main": "4"},
		},
		{
			name: "section", ask: "Main", ok: true, env: map[string]string{"Main__queueServiceUri": "https://q", "Main__credential": "managedidentity"},
			want: appsettings.Connection{Setting: "Main", Section: map[string]string{"queueServiceUri": "https://q", "credential": "managedidentity"}},
		},
		{
			name: "a text wins over a section", ask: "Main", ok: true, env: map[string]string{"AzureWebJobsMain__accountName": "a", "Main": "v"},
			want: appsettings.Connection{Setting: "Main", Value: "v"},
		},
		{name: "empty counts as missing", env: map[string]string{"Main": ""}, ask: "Main"},
		{name: "missing", ask: "Main"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, ok := appsettings.NewSettings(tt.env).Connection(tt.ask)
			if diff := cmp.Diff(tt.want, got); diff != "" || ok != tt.ok {
				t.Errorf("Connection(%q) = %v (-want +got):\n%s", tt.ask, ok, diff)
			}
		})
	}
	const want = "Storage account connection string 'AzureWebJobsMyConn' does not exist. Make sure that it is a defined App Setting."
	if got := appsettings.MissingConnection("MyConn").Error(); got != want {
		t.Errorf("MissingConnection: got %q, want %q", got, want)
	}
}

// Section 5.5, and where %X% is replaced.
func TestResolveSettings(t *testing.T) {
	t.Parallel()
	a := load(t, map[string]string{"Orders/function.json": functionJSON(
		`{"type": "queueTrigger", "name": "order", "queueName": "%stage%-%QUEUE%", "connection": "%conn%", "list": ["%stage%"]}`, "")},
		&app.Options{InProcess: true, Env: map[string]string{"Stage": "test", "queue": "orders", "Conn": "Main", "Main": "UseDevelopmentStorage=true"}})
	wantNoFaults(t, a)
	b := function(t, a, "Orders").Trigger
	if got := b.String("QUEUENAME"); got != "test-orders" {
		t.Errorf("queueName: got %q", got)
	}
	if b.Connection != "Main" {
		t.Errorf("connection: got %q", b.Connection)
	}
	if diff := cmp.Diff([]any{"test"}, b.Value("list")); diff != "" {
		t.Errorf("list (-want +got):\n%s", diff)
	}
}
