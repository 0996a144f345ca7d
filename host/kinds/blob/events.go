package blob

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/redeliver/redeliver/bindings/blob"
	"github.com/redeliver/redeliver/host/emulator/eventgrid"
	gridtrigger "github.com/redeliver/redeliver/triggers/eventgrid"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/host/emulator/storage"
	"github.com/redeliver/redeliver/host/emulator/storage/blobs"
	"github.com/redeliver/redeliver/host/kinds"
)

// The types of storage events.
const (
	blobCreated = "Microsoft.Storage.BlobCreated"
	blobDeleted = "Microsoft.Storage.BlobDeleted"
)

// blobSubject is the subject of a container's events, to which the blob's name is
// added.
func blobSubject(container string) string {
	return "/blobServices/default/containers/" + container + "/blobs/"
}

// storageEvent is an event of a storage account, in the order of the platform's
// samples (docs: event-schema-blob-storage.md).
type storageEvent struct {
	Subject     string          `json:"subject"`
	EventType   string          `json:"eventType"`
	EventTime   string          `json:"eventTime"`
	ID          string          `json:"id"`
	Data        storageBlobData `json:"data"`
	DataVersion string          `json:"dataVersion"`
}

type storageBlobData struct {
	API           string `json:"api"`
	RequestID     string `json:"requestId"`
	ETag          string `json:"eTag,omitempty"`
	ContentType   string `json:"contentType,omitempty"`
	ContentLength *int64 `json:"contentLength,omitempty"`
	BlobType      string `json:"blobType,omitempty"`
	URL           string `json:"url"`
	Sequencer     string `json:"sequencer"`
	Diagnostics   struct {
		BatchID string `json:"batchId"`
	} `json:"storageDiagnostics"`
}

// Publish publishes an event of an embedded account to the topic of the
// account's name, if there is one.
func Publish(env *kinds.Env, account string, e blobs.Event) {
	if _, err := env.Embedded.EventGrid().Topic(account); err != nil {
		return
	}
	// Identifiers differ also from the identifiers of a process before, whose
	// counters began at the same number.
	first, guid := env.GUIDs(3)
	seed := env.Seed ^ uint64(e.Time.UnixNano())
	id, request, batch := guid(seed, first+1), guid(seed, first+2), guid(seed, first+3)
	out := storageEvent{
		Subject: blobSubject(e.Container) + e.Name, EventType: blobCreated, ID: id,
		EventTime: e.Time.Format("2006-01-02T15:04:05.0000000Z"),
		Data: storageBlobData{
			API: e.API, RequestID: request, ETag: e.ETag, ContentType: e.ContentType, BlobType: string(e.Type),
			URL:       env.Connections.BlobURL() + (&url.URL{Path: "/" + account + "/" + e.Container + "/" + e.Name}).EscapedPath(),
			Sequencer: fmt.Sprintf("%016X%016X", e.Time.UnixNano(), first),
		},
	}
	out.Data.Diagnostics.BatchID = batch
	if e.Deleted {
		out.EventType = blobDeleted
	} else {
		out.Data.ContentLength = &e.Length
	}
	raw, err := json.Marshal([]storageEvent{out})
	if err != nil { // plain values
		panic(err)
	}
	events, err := eventgrid.ParseEvents(raw, eventgrid.EventGridSchema)
	if err == nil {
		err = env.Embedded.EventGrid().Publish(env.Root, account, events...)
	}
	if err != nil && env.Root.Err() == nil {
		env.Log.Warn().Err(err).Str("component", "eventgrid").Msg("an event of a storage account was not published")
	}
}

// A Subscription is the event subscription to the topic of its account that a blob
// function with the source EventGrid needs. In the cloud the user makes it; here
// it is made by itself.
type Subscription struct {
	Account string
	eventgrid.Subscription
}

// Subscriptions are the subscriptions of a generation's functions.
func Subscriptions(g kinds.Generation) (list []Subscription) {
	for _, f := range g.Functions() {
		if hook(f) == "" || f.Def.Disabled {
			continue
		}
		bf, err := functionOf(f)
		if err != nil {
			continue // its listener says so
		}
		account, ok := bf.Account.Blobs.(*storage.Storage)
		if !ok {
			continue // in the cloud: its Event Grid has to call the web hook
		}
		list = append(list, Subscription{f.Embedded.NameOf(account), eventgrid.Subscription{
			Name: blobSubscription(f), Function: f.Def.Name, IncludedEventTypes: []string{blobCreated},
			SubjectBeginsWith: blobSubject(bf.Pattern.Container()), IsSubjectCaseSensitive: true,
		}})
	}
	return list
}

// blobSubscription is the name of a function's subscription, which no function of another
// app has.
func blobSubscription(f *kinds.Function) string {
	if f.AppName != "" {
		return "blob-trigger-" + strings.NewReplacer("/", "-", `\`, "-", "?", "-", "#", "-").Replace(f.AppName) + "-" + f.Def.Name
	}
	return "blob-trigger-" + f.Def.Name
}

// hook is the web hook of functions with the source EventGrid.
func hook(f *kinds.Function) string {
	if !isBlob(f) || !onEventGrid(f.Def.Trigger) {
		return ""
	}
	return "blobs"
}

// serveHook answers a request to the web hook of a function. Each event of a blob that
// has come adds a control message; the answer is 202 as soon as they are queued.
func serveHook(ctx context.Context, f *kinds.Function, req *bindings.HTTPRequest) (*bindings.HTTPResponse, error) {
	resp, events := gridtrigger.Protocol(req, gridtrigger.AnySchema)
	for _, raw := range events {
		if err := queueEvent(ctx, f, raw); err != nil {
			return &bindings.HTTPResponse{StatusCode: http.StatusInternalServerError, Body: []byte(err.Error())}, nil
		}
	}
	if resp == nil {
		resp = &bindings.HTTPResponse{StatusCode: http.StatusAccepted}
	}
	return resp, nil
}

// queueEvent adds the control message of one event. Events of other types, and
// of page blobs, which the platform does not serve, are left out.
func queueEvent(ctx context.Context, f *kinds.Function, raw json.RawMessage) error {
	var e struct {
		Subject, EventType, Type string
		Data                     struct{ ETag, BlobType string }
	}
	if err := json.Unmarshal(raw, &e); err != nil {
		return err
	}
	if e.EventType != blobCreated && e.Type != blobCreated || e.Data.BlobType == string(blob.PageBlob) {
		return nil
	}
	rest, ok := strings.CutPrefix(e.Subject, "/blobServices/default/containers/")
	container, name, found := strings.Cut(rest, "/blobs/")
	if !ok || !found {
		return fmt.Errorf("event subject %q names no blob", e.Subject)
	}
	bf, err := functionOf(f)
	if err != nil {
		return err
	}
	shared, _, err := shareOf(f).of(f)
	if err != nil {
		return err
	}
	return shared.Queue(ctx, bf, container, name, e.Data.ETag, blob.Type(e.Data.BlobType))
}
