package hosttest

import (
	"slices"
	"strings"

	"github.com/redeliver/redeliver/schemas"
	"github.com/redeliver/redeliver/triggers/blob"
)

// A queue, a container or a hub is made when it is first used, and an empty one looks like
// one that is not there. So a name that is nowhere, but near to one that is, is a mistake of
// the test: what it sends there comes to nobody, and nothing is ever found there.

func (h *Host) queueMeant(name string) {
	h.tb.Helper()
	if h.named(name) {
		return
	}
	known := append(h.bound("queueName"), blob.PoisonQueue)
	for _, queue := range slices.Concat(known, h.Queues()) {
		known = append(known, queue, queue+"-poison")
	}
	h.meant("queue", name, known)
}

func (h *Host) containerMeant(path string) {
	h.tb.Helper()
	name, _, _ := strings.Cut(path, "/")
	if h.named("/" + name) {
		return
	}
	known := h.Containers()
	for _, path := range h.bound("path") {
		container, _, _ := strings.Cut(path, "/")
		known = append(known, container)
	}
	h.meant("container", name, known)
}

func (h *Host) hubMeant(name string) {
	h.tb.Helper()
	h.meant("event hub", name, append(h.bound("eventHubName"), h.EventHubs()...))
}

// named reports whether a name has been looked at before: tests use the same ones again and
// again.
func (h *Host) named(name string) bool {
	_, known := h.sure.LoadOrStore(name, true)
	return known
}

// meant ends the test at a name that is none of those that are known, and near to one.
func (h *Host) meant(what, name string, known []string) {
	h.tb.Helper()
	if near := nearest(name, known); near != "" && !schemas.Numbered(name, near) {
		h.tb.Fatalf("hosttest: there is no %s %q; did you mean %q?", what, name, near)
	}
}

// nearest is the known name that another one is meant to be; empty: it is known, or near to
// none. Names with expressions are near to nothing.
func nearest(name string, known []string) string {
	known = slices.DeleteFunc(known, func(k string) bool { return k == "" || strings.Contains(k, "{") })
	if slices.ContainsFunc(known, func(k string) bool { return strings.EqualFold(k, name) }) {
		return ""
	}
	return schemas.Nearest(name, known)
}

// orMeant is the end of a message about a name that a service does not have.
func orMeant(name string, known []string) string {
	if near := nearest(name, known); near != "" {
		return "; did you mean \"" + near + "\"?"
	}
	return ""
}

// bound are the values of an attribute of all bindings.
func (h *Host) bound(attribute string) (names []string) {
	a := h.App()
	if a == nil {
		return nil
	}
	for _, f := range a.Functions {
		for _, b := range f.Bindings {
			names = append(names, b.String(attribute))
		}
	}
	return names
}

// functionNames are those of the app that runs.
func (h *Host) functionNames() (names []string) {
	if a := h.App(); a != nil {
		for _, f := range a.Functions {
			names = append(names, f.Name)
		}
	}
	return names
}

// outputNames are those that Outputs knows.
func (h *Host) outputNames() (names []string) {
	for _, o := range h.OutputInfos() {
		names = append(names, o.Function, o.Function+"/"+o.Binding)
	}
	return names
}

// topicNames are those of Event Grid.
func (h *Host) topicNames() (names []string) {
	for _, t := range h.Services().EventGrid().Topics() {
		names = append(names, t.Name)
	}
	return names
}

// entityPaths are those of Service Bus, the topics and the dead-letter queues among them.
func (h *Host) entityPaths() (paths []string) {
	h.tb.Helper()
	for _, path := range h.ServiceBusEntities() {
		topic, _, _ := strings.Cut(path, "/")
		paths = append(paths, topic, path, path+"/$DeadLetterQueue")
	}
	return paths
}
