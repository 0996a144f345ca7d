package scenario

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/redeliver/redeliver/host/journal"
)

// nothingElse looks for messages and functions that an expectation does not name.
func (r inspection) nothingElse(at string, e *expect) {
	ran := map[string]bool{}
	for _, rec := range r.journaled(func(rec *journal.Record) bool { return rec.Kind == journal.AttemptStarted }) {
		if rec.Trigger != "activityTrigger" || e.Orchestrations == nil { // which counts them
			ran[rec.Function] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(ran)) {
		if !hasFold(e.Functions, name) && !slices.ContainsFunc(slices.Collect(maps.Keys(e.Functions)), func(given string) bool { return strings.EqualFold(r.cast.full(given), name) }) {
			r.mismatch(at, fmt.Sprintf("function %q has run", name), "no function that is not named", "attempts of "+name, r.of(name))
		}
	}
	for _, name := range r.h.Queues() {
		_, visible := e.Queues[name]
		_, hidden := e.Hidden[name]
		var left []string
		if !visible {
			left = append(left, r.h.Bodies(name)...)
		}
		if !hidden {
			left = append(left, r.h.HiddenBodies(name)...)
		}
		if len(left) > 0 {
			r.mismatch(at, fmt.Sprintf("queue %q holds messages", name), "none", showList(left), r.all)
		}
	}
	r.noOtherOrchestrations(at, e)
	r.noOtherEvents(at, e)
	r.noOtherBlobs(at, e)
	r.noOtherDocuments(at, e)
	r.noOtherMessages(at, e)
	for _, path := range r.busPaths() {
		if _, named := e.ServiceBus[path]; named {
			continue
		}
		if left := r.busBodies(path); len(left) > 0 {
			r.mismatch(at, fmt.Sprintf("entity %q holds messages", path), "none", showList(left), r.all)
		}
	}
}

func hasFold[T any](m map[string]T, name string) bool {
	for key := range m {
		if strings.EqualFold(key, name) {
			return true
		}
	}
	return false
}

// busPaths are the places of Service Bus that hold messages.
func (r inspection) busPaths() []string {
	var paths []string
	for _, path := range r.h.ServiceBusEntities() {
		paths = append(paths, path, path+"/$DeadLetterQueue")
	}
	slices.Sort(paths)
	return paths
}
