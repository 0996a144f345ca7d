package main

import (
	"testing"

	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/emulator/rest"
)

// The embedded storage is served when the app may mean it, or when somebody asked.
func TestDoorsWanted(t *testing.T) {
	t.Parallel()
	const cloud = "DefaultEndpointsProtocol=https;AccountName=shop;AccountKey=MTIzNA==;EndpointSuffix=core.windows.net"
	for _, row := range []struct {
		name     string
		settings map[string]string
		edit     func(*startFlags)
		want     bool
	}{
		{name: "no settings", want: true},
		{name: "no storage named", settings: map[string]string{"OTHER": cloud}, want: true},
		{name: "development storage", settings: map[string]string{"AzureWebJobsStorage": "usedevelopmentstorage=true"}, want: true},
		{name: "cloud", settings: map[string]string{"AzureWebJobsStorage": cloud}},
		{name: "identity in the cloud", settings: map[string]string{"AzureWebJobsStorage__accountName": "shop"}},
		{name: "another host", settings: map[string]string{"AzureWebJobsStorage": "AccountName=a;AccountKey=MTIzNA==;QueueEndpoint=http://127.0.0.1:40001/a"}},
		{name: "an emulator's ports", settings: map[string]string{"AzureWebJobsStorage": "AccountName=a;AccountKey=MTIzNA==;QueueEndpoint=http://localhost:10001/a"}, want: true},
		{name: "identity at an emulator's port", settings: map[string]string{"AzureWebJobsStorage__queueServiceUri": "https://127.0.0.1:10001/devstoreaccount1"}, want: true},
		{name: "cloud, and a second one here", settings: map[string]string{"AzureWebJobsStorage": cloud, "OTHER": "UseDevelopmentStorage=true;"}, want: true},
		{name: "cloud, and asked for", settings: map[string]string{"AzureWebJobsStorage": cloud}, edit: func(f *startFlags) { f.doorsGiven = true }, want: true},
		{name: "both off", edit: func(f *startFlags) { f.blobPort, f.queuePort, f.doorsGiven = noDoor, noDoor, true }},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			f := startFlags{blobPort: rest.DefaultBlobPort, queuePort: rest.DefaultQueuePort}
			if row.edit != nil {
				row.edit(&f)
			}
			s := session{flags: &f}
			if got := s.doorsWanted(&app.App{Settings: app.NewSettings(row.settings)}); got != row.want {
				t.Errorf("doorsWanted = %v, want %v", got, row.want)
			}
		})
	}
}
