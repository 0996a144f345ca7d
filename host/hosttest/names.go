package hosttest

import (
	"context"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/emulator/eventhubs"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/schemas"
	"github.com/redeliver/redeliver/triggers"
	"github.com/redeliver/redeliver/triggers/blob"
)

// A queue, a container or a hub is made when it is first used, and an empty one looks like
// one that is not there. So a name that is nowhere, but near to one that is, is a mistake of
// the test: what it sends there comes to nobody. A look at a name that is nowhere proves
// nothing, near to another one or not: nothing is ever found there.

func (h *Host) queueMeant(name string) {
	h.tb.Helper()
	if !h.named(name) {
		h.meant("queue", name, h.queueNames())
	}
}

// queueThere is queueMeant for a look. What the test itself has sent to may be gone again.
func (h *Host) queueThere(name string) {
	h.tb.Helper()
	h.queueMeant(name)
	if !h.named("look "+name) && !has(withPoison(h.bound("queueName")), name) {
		h.there("queue", name, h.queueNames(), "CreateQueue")
	}
}

// queueNames are those of the app's bindings and of the service.
func (h *Host) queueNames() []string {
	return withPoison(append(h.bound("queueName"), h.Queues()...))
}

// withPoison adds the poison queues to queues.
func withPoison(queues []string) []string {
	known := []string{blob.PoisonQueue}
	for _, queue := range queues {
		known = append(known, queue, queue+"-poison")
	}
	return known
}

// containerOf looks at the container of a path, if that is one.
func (h *Host) containerOf(path string, look func(container string)) {
	h.tb.Helper()
	if container, _, _ := strings.Cut(path, "/"); container != "" {
		look(container)
	}
}

func (h *Host) containerMeant(path string) {
	h.tb.Helper()
	name, _, _ := strings.Cut(path, "/")
	if !h.named("/" + name) {
		h.meant("container", name, h.containerNames())
	}
}

// containerThere is containerMeant for a look.
func (h *Host) containerThere(name string) {
	h.tb.Helper()
	h.containerMeant(name)
	if !h.named("look /" + name) {
		h.there("container", name, h.containerNames(), "CreateContainer")
	}
}

// hostContainers are those that the host itself makes, sooner or later.
var hostContainers = []string{"azure-webjobs-hosts", "azure-webjobs-secrets", "azure-webjobs-eventhub"} // read only

// containerNames are those of the app's bindings and of the service.
func (h *Host) containerNames() (known []string) {
	known = append(h.Containers(), hostContainers...)
	for _, of := range h.bound("path") {
		container, _, _ := strings.Cut(of, "/")
		known = append(known, container)
	}
	if a := h.ran(); a != nil {
		for _, t := range a.Config.EventGrid.Named() {
			for _, s := range t.Subscriptions {
				known = append(known, path.Base(s.DeadLetterContainer)) // a name or a resource ID
			}
		}
	}
	return known
}

func (h *Host) hubMeant(name string) {
	h.tb.Helper()
	h.meant("event hub", name, append(h.bound("eventHubName"), h.EventHubs()...))
}

// partitionThere ends the test at a hub, group or partition that there is not: it never has a
// checkpoint. It returns the names as the service writes them.
func (h *Host) partitionThere(hub, group, partition string) (ownHub, ownGroup string) {
	h.tb.Helper()
	h.hubMeant(hub)
	var hubs []eventhubs.Hub
	var partitions []string
	h.do("look at the hubs", func() {
		ctx := context.Background()
		hubs, _ = h.Services().EventHubs().Hubs(ctx)
		if found, err := h.Services().EventHubs().Hub(ctx, hub); err == nil {
			partitions = found.Partitions
		}
	})
	i := slices.IndexFunc(hubs, func(one eventhubs.Hub) bool { return strings.EqualFold(one.Name, hub) })
	if i < 0 {
		h.there("event hub", hub, h.EventHubs(), "CreateEventHub")
		return hub, group
	}
	groups := append([]string{"$Default"}, hubs[i].ConsumerGroups...)
	h.there("consumer group", group, groups, "")
	h.there("partition", partition, partitions, "")
	n := slices.IndexFunc(groups, func(one string) bool { return strings.EqualFold(one, group) })
	return hubs[i].Name, groups[n]
}

// cosmosMeant is meant for a container of Cosmos DB, whose case counts.
func (h *Host) cosmosMeant(database, container string) {
	h.tb.Helper()
	known := h.CosmosContainers()
	databases, containers := h.bound("databaseName"), h.bound("containerName")
	for i, name := range databases {
		known = append(known, name+"/"+containers[i])
	}
	full := database + "/" + container
	if slices.Contains(known, full) || slices.ContainsFunc(known, func(k string) bool { return strings.Contains(k, "{") && app.MayBecome(k, full) }) {
		return
	}
	if near := schemas.Nearest(full, known); near != "" && !schemas.Numbered(full, near) {
		h.tb.Fatalf("hosttest: there is no container %q of Cosmos DB; did you mean %q?", full, near)
	}
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
	if near := nearest(name, known); near != "" && !schemas.Numbered(name, near) && !mayBecome(known, name) {
		h.tb.Fatalf("hosttest: there is no %s %q; did you mean %q?", what, name, near)
	}
}

// there ends the test at a look at a name that is none of those that are known. make is the
// call that makes what only code knows; empty: there is none.
func (h *Host) there(what, name string, known []string, make string) {
	h.tb.Helper()
	if has(known, name) {
		return
	}
	hint := orMeant(name, known)
	if hint == "" {
		shown := slices.DeleteFunc(slices.Sorted(slices.Values(known)), func(k string) bool { return k == "" })
		hint = ", and a look at it would hold whatever happens: it is one of " + strings.Join(slices.Compact(shown), ", ")
		if make != "" {
			hint += ", or " + make + " makes it"
		}
	}
	h.tb.Fatalf("hosttest: there is no %s %q%s", what, name, hint)
}

// has reports whether a name is one of those that are known.
func has(known []string, name string) bool {
	return slices.ContainsFunc(known, func(k string) bool { return strings.EqualFold(k, name) }) || mayBecome(known, name)
}

// mayBecome reports whether a name may come of one with expressions.
func mayBecome(known []string, name string) bool {
	return slices.ContainsFunc(known, func(k string) bool { return strings.Contains(k, "{") && app.MayBecome(k, name) })
}

// nearest is the known name that another one is meant to be; empty: it is known, or near to
// none. Names with expressions are near to nothing.
func nearest(name string, known []string) string {
	known = slices.DeleteFunc(slices.Clone(known), func(k string) bool { return k == "" || strings.Contains(k, "{") })
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

// mustBeKind ends the test at a kind that no record ever has.
func (h *Host) mustBeKind(kind journal.Kind) {
	h.tb.Helper()
	if !slices.Contains(journal.Kinds(), kind) {
		h.tb.Fatalf("hosttest: no record is of kind %q%s", kind, orMeant(string(kind), texts(journal.Kinds())))
	}
}

// mustBeDecision ends the test at a decision that no settlement ever has.
func (h *Host) mustBeDecision(d triggers.Decision) {
	h.tb.Helper()
	if !slices.Contains(triggers.AllDecisions(), d) {
		h.tb.Fatalf("hosttest: no delivery is settled as %q%s", d, orMeant(string(d), texts(triggers.AllDecisions())))
	}
}

func texts[S ~string](list []S) (out []string) {
	for _, s := range list {
		out = append(out, string(s))
	}
	return out
}

// bound are the values of an attribute of all bindings.
func (h *Host) bound(attribute string) (names []string) {
	for _, of := range h.apps() {
		a := of.ran()
		if a == nil {
			continue
		}
		for _, f := range a.Functions {
			for _, b := range f.Bindings {
				names = append(names, b.String(attribute))
			}
		}
	}
	return names
}

// functionNames are those of the apps that run.
func (h *Host) functionNames() (names []string) {
	for _, of := range h.apps() {
		if a := of.ran(); a != nil {
			for _, f := range a.Functions {
				names = append(names, journal.Qualified(of.name, f.Name))
			}
		}
	}
	return names
}

// outputNames are those that Outputs and FailOutput know.
func (h *Host) outputNames() (names []string) {
	for _, of := range h.apps() {
		for _, o := range of.OutputInfos() {
			function := journal.Qualified(of.name, o.Function)
			names = append(names, function, function+"/"+o.Binding)
		}
	}
	return names
}

// routeMeant is the path that one is meant to be which no function has; empty: it is near to
// none. Routes with parameters are near to nothing.
func (h *Host) routeMeant(url string) string {
	asked, _, _ := strings.Cut(url, "?")
	var paths []string
	if a := h.ran(); a != nil {
		for _, f := range a.Functions {
			if f.Routed() {
				paths = append(paths, "/"+app.RouteTemplate(a, f))
			}
		}
	}
	near := nearest(asked, paths)
	if schemas.Numbered(asked, near) {
		return ""
	}
	return near
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

// ownFiles are the files that a host reads by their names.
var ownFiles = []string{"host.json", "function.json", "local.settings.json"} // read only

// misnamed is the name that a file has by mistake not, such as functon.json; empty: it is
// another file.
func misnamed(name string) string {
	near := schemas.Nearest(path.Base(name), ownFiles)
	if near == "" || near == path.Base(name) {
		return ""
	}
	return path.Join(path.Dir(name), near)
}

// beside are the paths of what lies in the folder of a file.
func beside(dir, name string) (paths []string) {
	entries, _ := os.ReadDir(filepath.Join(dir, filepath.FromSlash(path.Dir(name)))) // none: nothing is near
	for _, e := range entries {
		paths = append(paths, path.Join(path.Dir(name), e.Name()))
	}
	return paths
}
