package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azeventhubs/v2"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/redeliver/redeliver/functions"
)

// gridApp fails for every event except those of the type "good".
func gridApp() *functions.App {
	app := functions.New()
	app.EventGrid("OnOrder", func(_ context.Context, e functions.EventGridEvent) error {
		if e.EventType == "good" {
			return nil
		}
		return errors.New("warehouse closed")
	})
	return app
}

// hubApp fails for every event but "good".
func hubApp() *functions.App {
	app := functions.New()
	app.EventHub("OnReading", "readings", func(_ context.Context, e functions.EventHubEvent) error {
		if e.Text() == "good" {
			return nil
		}
		return errors.New("database down")
	}, functions.FixedDelay(4, 30*time.Second))
	return app
}

// grid-post NAME STATUS BODY [CERT] publishes to the topic that a process has printed
// last, with its key; with a certificate over HTTPS.
func gridPost(ts *testscript.TestScript, neg bool, args []string) {
	text, _ := named(ts, args[0]).output()
	found := regexp.MustCompile(`(?m)eventgrid +(http\S+)  key (\S+)$`).FindAllStringSubmatch(text, -1)
	if len(found) == 0 {
		ts.Fatalf("%s has printed no topic", args[0])
	}
	at := found[len(found)-1]
	transport := &http.Transport{DisableKeepAlives: true}
	if len(args) > 3 {
		transport.TLSClientConfig = trusting(ts, args[3])
	}
	r, err := http.NewRequest(http.MethodPost, at[1]+"?api-version=2018-01-01", strings.NewReader(args[2]))
	ts.Check(err)
	r.Header.Set("aeg-sas-key", at[2])
	resp, err := (&http.Client{Transport: transport, Timeout: patience}).Do(r)
	ts.Check(err)
	defer resp.Body.Close()
	var body bytes.Buffer
	_, err = body.ReadFrom(resp.Body)
	ts.Check(err)
	if got := fmt.Sprint(resp.StatusCode); got != args[1] {
		ts.Fatalf("%s answered %s: %s, want %s", at[1], got, body.String(), args[1])
	}
}

// hub-send NAME HUB BODY sends an event with the SDK and the connection string that a
// process has printed.
func hubSend(ts *testscript.TestScript, neg bool, args []string) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	client, err := azeventhubs.NewProducerClientFromConnectionString(line(ts, args[0], "eventhubs"), args[1], nil)
	ts.Check(err)
	defer client.Close(ctx)
	batch, err := client.NewEventDataBatch(ctx, nil)
	ts.Check(err)
	ts.Check(batch.AddEventData(&azeventhubs.EventData{Body: []byte(args[2])}, nil))
	ts.Check(client.SendEventDataBatch(ctx, batch, nil))
}
