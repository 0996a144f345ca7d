package scenario

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/redeliver/redeliver/host/ops/cosmos"
	"github.com/redeliver/redeliver/schemas"
)

// brought is what the steps of a scenario have put where it stays by nature: events, blobs
// and documents are not used up as messages are, so they are nothing else.
type brought struct {
	sent    map[string][]string // bodies of events, by hub
	blobs   map[string]string   // contents, by path
	written map[string][]json.RawMessage
}

func (b *brought) events(hub string, bodies []string) {
	if b.sent == nil {
		b.sent = map[string][]string{}
	}
	b.sent[strings.ToLower(hub)] = append(b.sent[strings.ToLower(hub)], bodies...)
}

func (b *brought) blob(path, content string) {
	if b.blobs == nil {
		b.blobs = map[string]string{}
	}
	b.blobs[path] = content
}

func (b *brought) documents(container string, list []json.RawMessage) {
	if b.written == nil {
		b.written = map[string][]json.RawMessage{}
	}
	b.written[strings.ToLower(container)] = append(b.written[strings.ToLower(container)], list...)
}

// noOtherEvents looks for events that no step has sent, in hubs that are not named.
func (r inspection) noOtherEvents(at string, e *expect) {
	for _, hub := range r.hubs() {
		named := hasFold(e.EventHubs, hub.Name)
		for name := range e.EventHubs {
			of, _, _ := strings.Cut(name, "/")
			named = named || strings.EqualFold(of, hub.Name)
		}
		if named {
			continue
		}
		sent := slices.Clone(r.brought.sent[strings.ToLower(hub.Name)])
		var left []string
		for _, body := range r.eventBodies(hub.Name) {
			if i := slices.Index(sent, body); i >= 0 {
				sent = slices.Delete(sent, i, i+1)
			} else {
				left = append(left, body)
			}
		}
		if len(left) > 0 {
			r.mismatch(at, fmt.Sprintf("event hub %q holds events that no step has sent", hub.Name), "none", showList(left), r.all)
		}
	}
}

// noOtherBlobs looks for blobs that no step has written, or that have another content since.
func (r inspection) noOtherBlobs(at string, e *expect) {
	for _, container := range r.h.Containers() {
		if hasFold(e.Containers, container) || slices.Contains(hostContainers, container) {
			continue
		}
		var left []string
		for _, name := range r.h.Blobs(container) {
			path := container + "/" + name
			if _, named := e.Blobs[path]; named {
				continue
			}
			content, step := r.brought.blobs[path]
			if got, ok := r.h.Download(path); ok && !(step && got == content) {
				left = append(left, path)
			}
		}
		if len(left) > 0 {
			r.mismatch(at, fmt.Sprintf("container %q holds blobs that no step has written so", container), "none", showList(left), r.all)
		}
	}
}

// noOtherDocuments looks for documents that no step has written, or that are others since.
func (r inspection) noOtherDocuments(at string, e *expect) {
	app := names{}
	for _, p := range r.cast {
		app.ofApp(p)
	}
	for _, name := range r.h.CosmosContainers() {
		if hasFold(e.held[cosmos.Service.Scene.Held], name) || app.have(leases, name) {
			continue
		}
		database, container, _ := strings.Cut(name, "/")
		var left []string
		for _, item := range r.h.CosmosItems(database, container) {
			if !slices.ContainsFunc(r.brought.written[strings.ToLower(name)], func(raw json.RawMessage) bool { return isWritten(raw, item.Body) }) {
				left = append(left, string(item.Body))
			}
		}
		if len(left) > 0 {
			r.mismatch(at, fmt.Sprintf("container %s holds documents that no step has written so", schemas.Quote(name)), "none", showList(left), r.all)
		}
	}
}

// isWritten reports whether a document is one that a step has written: beside the properties
// of the service, which begin with _, it has no others.
func isWritten(raw, have []byte) bool {
	item, _ := decoded(have).(map[string]any)
	for name := range item {
		if strings.HasPrefix(name, "_") {
			delete(item, name)
		}
	}
	want, _ := decoded(raw).(map[string]any)
	for name := range want {
		if strings.HasPrefix(name, "_") {
			delete(want, name)
		}
	}
	return covers(want, item, true)
}
