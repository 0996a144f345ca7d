package atom

import (
	"net/http"
	"net/url"
	"strings"
	"time"
)

// described is one entity as it stands in an entry: its address below the
// namespace, its name, its times and its description.
type described struct {
	path             string
	title            string
	created, updated time.Time
	root             string // the description's element
	write            func(w *writer)
}

// address is the absolute address of a path, as a client would ask for it.
func (c *call) address(path string) string {
	escaped := (&url.URL{Path: path}).EscapedPath()
	return c.base() + escaped + "?" + url.Values{"api-version": {c.version()}}.Encode()
}

// forward is where an entity forwards to, as the service reports it: the
// address that it was given, or else one by the scheme of Service Bus, over
// any protocol.
//
// Source: azservicebus: admin/admin_client_test.go, TestAdminClient_Forwarding.
func (c *call) forward(w *writer, name, target, address string) {
	switch {
	case address != "":
		w.field(name, address)
	case target != "":
		w.field(name, "sb://"+c.r.Host+"/"+(&url.URL{Path: target}).EscapedPath())
	}
}

// entry writes an entry; space is for the outermost element.
func (c *call) entry(w *writer, d described, space ...string) {
	w.open("entry", space...)
	w.field("id", c.address(d.path))
	w.field("title", d.title, "type", "text")
	w.field("published", wireTime(d.created.Truncate(time.Second)))
	w.field("updated", wireTime(d.updated.Truncate(time.Second)))
	w.open("author")
	w.field("name", c.opts.Namespace)
	w.close("author")
	w.empty("link", "rel", "self", "href", c.address(d.path))
	w.open("content", "type", "application/xml")
	w.open(d.root, "xmlns", serviceBusSpace, "xmlns:i", instanceSpace)
	d.write(w)
	w.close(d.root)
	w.close("content")
	w.close("entry")
}

// answerEntry answers with one entity.
func (c *call) answerEntry(status int, d described) error {
	var w writer
	c.entry(&w, d, "xmlns", atomSpace)
	return c.answer(status, entryType, w.b)
}

// publiclyListed answers the question for an entity that is not there, as the
// service does: with the empty feed of what it lists publicly. Clients take it for
// "not found" (azservicebus: internal/atom/entity_manager.go).
func (c *call) publiclyListed() error {
	var w writer
	w.open("feed", "xmlns", atomSpace)
	w.field("title", "Publicly Listed Services", "type", "text")
	w.field("subtitle", "This is the list of publicly-listed services currently available.", "type", "text")
	w.field("id", "uuid:"+strings.ToLower(c.opts.Namespace)+";id=1")
	w.field("updated", wireTime(c.clk.Now().Truncate(time.Second)))
	w.field("generator", "Service Bus 1.1")
	w.close("feed")
	return c.answer(http.StatusOK, feedType, w.b)
}
