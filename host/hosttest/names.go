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

func queueMeant(h *Host, name string) {
	h.tb.Helper()
	if !isSure(h, name) {
		refuseSlip(h, "queue", name, queueNames(h))
	}
}

// queueThere is queueMeant for a look. What the test itself has sent to may be gone again.
func queueThere(h *Host, name string) {
	h.tb.Helper()
	queueMeant(h, name)
	if !isSure(h, "look "+name) && !has(withPoison(boundNames(h, "queueName")), name) {
		mustExist(h, "queue", name, queueNames(h), "CreateQueue")
	}
}

// queueNames are those of the app's bindings and of the service.
func queueNames(h *Host) []string {
	return withPoison(append(boundNames(h, "queueName"), h.Queues()...))
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
func containerOf(path string, look func(container string)) {
	if container, _, _ := strings.Cut(path, "/"); container != "" {
		look(container)
	}
}

func containerMeant(h *Host, path string) {
	h.tb.Helper()
	name, _, _ := strings.Cut(path, "/")
	if !isSure(h, "/"+name) {
		refuseSlip(h, "container", name, containerNames(h))
	}
}

// containerThere is containerMeant for a look.
func containerThere(h *Host, name string) {
	h.tb.Helper()
	containerMeant(h, name)
	if !isSure(h, "look /"+name) {
		mustExist(h, "container", name, containerNames(h), "CreateContainer")
	}
}

// hostContainers are those that the host itself makes, sooner or later.
var hostContainers = []string{"azure-webjobs-hosts", "azure-webjobs-secrets", "azure-webjobs-eventhub"} // read only

// containerNames are those of the app's bindings and of the service.
func containerNames(h *Host) (known []string) {
	known = append(h.Containers(), hostContainers...)
	for _, of := range boundNames(h, "path") {
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

func hubMeant(h *Host, name string) {
	h.tb.Helper()
	refuseSlip(h, "event hub", name, append(boundNames(h, "eventHubName"), h.EventHubs()...))
}

// partitionThere ends the test at a hub, group or partition that there is not: it never has a
// checkpoint. It returns the names as the service writes them.
func partitionThere(h *Host, hub, group, partition string) (ownHub, ownGroup string) {
	h.tb.Helper()
	hubMeant(h, hub)
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
		mustExist(h, "event hub", hub, h.EventHubs(), "CreateEventHub")
		return hub, group
	}
	groups := append([]string{"$Default"}, hubs[i].ConsumerGroups...)
	mustExist(h, "consumer group", group, groups, "")
	mustExist(h, "partition", partition, partitions, "")
	n := slices.IndexFunc(groups, func(one string) bool { return strings.EqualFold(one, group) })
	return hubs[i].Name, groups[n]
}

// cosmosMeant is refuseSlip for a container of Cosmos DB, whose case counts.
func cosmosMeant(h *Host, database, container string) {
	h.tb.Helper()
	known := h.CosmosContainers()
	databases, containers := boundNames(h, "databaseName"), boundNames(h, "containerName")
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

// isSure reports whether a name has been looked at before: tests use the same ones again and
// again.
func isSure(h *Host, name string) bool {
	_, known := h.sure.LoadOrStore(name, true)
	return known
}

// refuseSlip ends the test at a name that is none of those that are known, and near to one.
func refuseSlip(h *Host, what, name string, known []string) {
	h.tb.Helper()
	if near := nearest(name, known); near != "" && !schemas.Numbered(name, near) && !mayBecome(known, name) {
		h.tb.Fatalf("hosttest: there is no %s %q; did you mean %q?", what, name, near)
	}
}

// mustExist ends the test at a look at a name that is none of those that are known. make is the
// call that makes what only code knows; empty: there is none.
func mustExist(h *Host, what, name string, known []string, make string) {
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
func mustBeKind(h *Host, kind journal.Kind) {
	h.tb.Helper()
	if !slices.Contains(journal.Kinds(), kind) {
		h.tb.Fatalf("hosttest: no record is of kind %q%s", kind, orMeant(string(kind), texts(journal.Kinds())))
	}
}

// mustBeDecision ends the test at a decision that no settlement ever has.
func mustBeDecision(h *Host, d triggers.Decision) {
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

// boundNames are the values of an attribute of all bindings.
func boundNames(h *Host, attribute string) (names []string) {
	for _, of := range appsOf(h) {
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
func functionNames(h *Host) (names []string) {
	for _, of := range appsOf(h) {
		if a := of.ran(); a != nil {
			for _, f := range a.Functions {
				names = append(names, journal.Qualified(of.name, f.Name))
			}
		}
	}
	return names
}

// outputNames are those that Outputs and FailOutput know.
func outputNames(h *Host) (names []string) {
	for _, of := range appsOf(h) {
		for _, o := range of.OutputInfos() {
			function := journal.Qualified(of.name, o.Function)
			names = append(names, function, function+"/"+o.Binding)
		}
	}
	return names
}

// routeMeant is the path that one is meant to be which no function has; empty: it is near to
// none. Routes with parameters are near to nothing.
func routeMeant(h *Host, url string) string {
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
func topicNames(h *Host) (names []string) {
	for _, t := range h.Services().EventGrid().Topics() {
		names = append(names, t.Name)
	}
	return names
}

// entityPaths are those of Service Bus, the topics and the dead-letter queues among them.
func entityPaths(h *Host) (paths []string) {
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
