package main

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/redeliver/redeliver/host"
	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/emulator/eventgrid"
)

// Event Grid is served where somebody will publish to it.
func TestGridWanted(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		topics  string // of host.json
		setting string
		made    eventgrid.Topic // in an earlier run
		flags   gridFlags
		want    bool
	}{
		"nothing":                  {},
		"no topics":                {topics: `[ ]`},
		"topics":                   {topics: `[{"name":"shop"}]`, want: true},
		"topics, off":              {topics: `[{"name":"shop"}]`, flags: gridFlags{port: noDoor, given: true}},
		"a port was named":         {flags: gridFlags{port: 4711, given: true}, want: true},
		"any port":                 {flags: gridFlags{given: true}, want: true},
		"a setting":                {setting: "http://localhost:60101/shop/api/events", want: true},
		"a setting, HTTPS":         {setting: "https://127.0.0.1:60101/shop", want: true},
		"a setting, IPv6":          {setting: "http://[::1]:60101/shop", want: true},
		"a setting, off":           {setting: "http://localhost:60101/shop", flags: gridFlags{port: noDoor, given: true}},
		"a setting, another port":  {setting: "http://localhost:60102/shop"},
		"a setting, the cloud":     {setting: "https://shop.westeurope-1.eventgrid.azure.net/api/events"},
		"a setting, no URL":        {setting: "localhost:60101"},
		"made before":              {made: eventgrid.Topic{Name: "shop"}, want: true},
		"of a storage account":     {made: eventgrid.Topic{Name: "devstoreaccount1", Resource: eventgrid.StorageResource("devstoreaccount1")}},
		"made before, door is off": {made: eventgrid.Topic{Name: "shop"}, flags: gridFlags{port: noDoor, given: true}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			hostJSON := `{"version": "2.0"}`
			if test.topics != "" {
				hostJSON = `{"version": "2.0", "redeliver": {"eventGrid": {"topics": ` + test.topics + `}}}`
			}
			if err := os.WriteFile(filepath.Join(dir, "host.json"), []byte(hostJSON), 0o600); err != nil {
				t.Fatal(err)
			}
			env := []string{"AzureWebJobsStorage=UseDevelopmentStorage=true", "Topic=" + test.setting}
			a, err := app.Load(dir, &app.Options{Env: environment(env)})
			if err != nil {
				t.Fatal(err)
			}
			h, err := host.New(dir, &host.Options{Env: env})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { h.Close() })
			if test.made.Name != "" {
				if err := h.Services().EventGrid().CreateTopic(context.Background(), test.made); err != nil {
					t.Fatal(err)
				}
			}
			s := &session{flags: &startFlags{grid: test.flags}, host: h}
			if got := s.gridWanted(a); got != test.want {
				t.Errorf("wanted %v, want %v", got, test.want)
			}
		})
	}
}
