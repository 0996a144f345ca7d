package host

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/blob"
	"github.com/redeliver/redeliver/host/emulator"
	"github.com/redeliver/redeliver/host/emulator/eventgrid"
	trigger "github.com/redeliver/redeliver/triggers/eventgrid"
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

// publishBlobEvent publishes an event of an embedded account to the topic of the
// account's name, if there is one.
func (h *Host) publishBlobEvent(account string, e emulator.BlobEvent) {
	if _, err := h.embedded.EventGrid().Topic(account); err != nil {
		return
	}
	// Identifiers differ also from those of a process before, whose counters began
	// as ours did.
	h.mu.Lock()
	first, seed := h.ids.guids, h.ids.seed^uint64(e.Time.UnixNano())
	h.ids.guids += 3
	h.mu.Unlock()
	id, request, batch := guid(seed, first+1), guid(seed, first+2), guid(seed, first+3)
	out := storageEvent{
		Subject: blobSubject(e.Container) + e.Name, EventType: blobCreated, ID: id,
		EventTime: e.Time.Format("2006-01-02T15:04:05.0000000Z"),
		Data: storageBlobData{
			API: e.API, RequestID: request, ETag: e.ETag, ContentType: e.ContentType, BlobType: string(e.Type),
			URL:       h.connections.BlobURL() + (&url.URL{Path: "/" + account + "/" + e.Container + "/" + e.Name}).EscapedPath(),
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
		err = h.embedded.EventGrid().Publish(h.root, account, events...)
	}
	if err != nil && h.root.Err() == nil {
		h.log.Warn().Err(err).Str("component", "eventgrid").Msg("an event of a storage account was not published")
	}
}

// withBlobTopics adds what the generation's blob functions with the source EventGrid
// need: for each a subscription to the topic of its account. In the cloud somebody
// has to make it; here it makes itself.
func (g *generation) withBlobTopics(topics []gridTopic) []gridTopic {
	for _, f := range g.functions {
		if f.kind.Type != "blobTrigger" || !onEventGrid(f.def.Trigger) || f.def.Disabled {
			continue
		}
		bf, err := f.blobFunction()
		if err != nil {
			continue // its listener says so
		}
		account, ok := bf.Account.Blobs.(*emulator.Storage)
		if !ok {
			continue // in the cloud: its Event Grid has to call the web hook
		}
		topics = addBlobSubscription(topics, g.host.embedded.NameOf(account), eventgrid.Subscription{
			Name: "blob-trigger-" + f.def.Name, Function: f.def.Name, IncludedEventTypes: []string{blobCreated},
			SubjectBeginsWith: blobSubject(bf.Pattern.Container()), IsSubjectCaseSensitive: true,
		})
	}
	return topics
}

func addBlobSubscription(topics []gridTopic, account string, s eventgrid.Subscription) []gridTopic {
	for i := range topics {
		if strings.EqualFold(topics[i].Name, account) {
			topics[i].Subscriptions = append(topics[i].Subscriptions, s)
			return topics
		}
	}
	t := gridTopic{Topic: eventgrid.Topic{Name: account, Resource: eventgrid.StorageResource(account)}}
	t.Subscriptions = []eventgrid.Subscription{s}
	return append(topics, t)
}

// ServeBlobHook answers a request to the web hook of a blob function with the source
// EventGrid: POST or OPTIONS /runtime/webhooks/blobs?functionName=NAME, whose key was
// checked. Each event of a blob that has come adds a control message; the answer is
// 202 as soon as they are queued.
func (h *Host) ServeBlobHook(ctx context.Context, function string, req *bindings.HTTPRequest) *bindings.HTTPResponse {
	var resp *bindings.HTTPResponse
	h.clk.Inside("blob event", func() {
		token, release := h.token(ctx)
		defer release()
		resp = h.serveBlobHook(token, function, req)
	})
	return resp
}

func (h *Host) serveBlobHook(ctx context.Context, function string, req *bindings.HTTPRequest) *bindings.HTTPResponse {
	gen, err := h.ready(ctx)
	if err != nil {
		return &bindings.HTTPResponse{StatusCode: http.StatusServiceUnavailable}
	}
	f := gen.function(function)
	if f == nil || f.kind.Type != "blobTrigger" || !onEventGrid(f.def.Trigger) || f.def.Disabled {
		return &bindings.HTTPResponse{StatusCode: http.StatusNotFound, Body: []byte("cannot find function: '" + function + "'")}
	}
	resp, events := trigger.Protocol(req, trigger.AnySchema)
	for _, raw := range events {
		if err := f.queueBlobEvent(ctx, raw); err != nil {
			return &bindings.HTTPResponse{StatusCode: http.StatusInternalServerError, Body: []byte(err.Error())}
		}
	}
	if resp == nil {
		resp = &bindings.HTTPResponse{StatusCode: http.StatusAccepted}
	}
	return resp
}

// queueBlobEvent adds the control message of one event. Events of other types, and
// of page blobs, which the platform does not serve, are left out.
func (f *function) queueBlobEvent(ctx context.Context, raw json.RawMessage) error {
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
	bf, err := f.blobFunction()
	if err != nil {
		return err
	}
	shared, _, err := f.gen.blobs.of(f.gen)
	if err != nil {
		return err
	}
	return shared.Queue(ctx, bf, container, name, e.Data.ETag, blob.Type(e.Data.BlobType))
}
