package hosttest

import (
	"slices"
	"strings"

	"github.com/redeliver/redeliver/host/journal"
)

// An appRun is a run of several apps.
type appRun struct {
	apps []*Host
	dead []deadSpan
}

// A deadSpan are the records of an app that was killed, behind its end: what it still did
// has come to nothing.
type deadSpan struct {
	app      string
	from, to uint64
}

// Beside starts another app beside this one, as "redeliver start orders billing" does: on the
// same clock, with the same services and one journal. Both have Options.App, by which names
// are told apart: a function is "app/function", and its name alone will do on its own host, and
// where one app has it. All calls that name a function take those of each app; requests,
// outputs, edits, and the encoding of Send, are of the host that they are called on. Each app
// can be closed, killed and started again by itself; the other ones go on.
//
//	orders := hosttest.New(t, &hosttest.Options{App: "orders", Dir: "../orders"})
//	billing := orders.Beside(&hosttest.Options{App: "billing", Dir: "../billing"})
//	orders.Request("POST", "/api/orders", `{"id":"7"}`)
//	billing.AwaitSettled("ProcessOrder", triggers.Deleted)
//
// The clock, chance, faults and services are those of the first app: options on them are
// refused here.
func (h *Host) Beside(opts *Options) *Host {
	h.tb.Helper()
	var o Options
	if opts != nil {
		o = *opts
	}
	switch own := h.run; {
	case own == nil:
		h.tb.Fatalf("hosttest: Beside: the first app has no name: set its Options.App")
	case o.App == "":
		h.tb.Fatalf("hosttest: Beside: the app has no name: set Options.App")
	case slices.ContainsFunc(own.apps, func(a *Host) bool { return strings.EqualFold(a.name, o.App) }):
		h.tb.Fatalf("hosttest: Beside: there is an app %q already", o.App)
	case o.Instances:
		h.tb.Fatalf("hosttest: Beside: Options.Instances: an app among several runs in one instance")
	}
	for what, given := range map[string]bool{
		"Seed": o.Seed != 0, "Start": !o.Start.IsZero(), "System": o.System, "Shuffle": o.Shuffle, "Unchecked": o.Unchecked, "Lax": o.Lax,
		"Patience": o.Patience != 0, "StorageFault": o.StorageFault != nil, "Fault": o.Fault != nil, "Table": o.Table != nil,
	} {
		if given {
			h.tb.Fatalf("hosttest: Beside: Options.%s is of the whole run: give it to the first app", what)
		}
	}
	first := h.run.apps[0]
	other := whole(&Host{
		tb: h.tb, name: o.App, run: h.run, second: true, virtual: h.virtual, cursor: 1, begins: h.begins, hangs: h.hangs,
		lax: h.lax, mayFail: o.MayFail, inError: o.InError, stuck: h.stuck, faults: h.faults, table: h.table,
	})
	other.open(&o, h.Host.Clock(), first)
	h.run.apps = append(h.run.apps, other)
	other.begin(&o)
	return other
}

// appsOf are the hosts of all apps of the run.
func appsOf(h *Host) []*Host {
	if h.run == nil {
		return []*Host{h}
	}
	return h.run.apps
}

// hostsOf are the hosts whose function a name may mean, with the names as records have them: h's
// own, or those of the others.
func hostsOf(h *Host, function string) (names []string, hosts []*Host) {
	for _, a := range appsOf(h) {
		if full := journal.Qualified(a.name, function); a == h && knows(a, function) {
			return []string{full}, []*Host{a}
		} else if own, ok := cutApp(a, function); ok && knows(a, own) {
			return []string{journal.Qualified(a.name, own)}, []*Host{a}
		} else if a != h && knows(a, function) {
			names, hosts = append(names, full), append(hosts, a)
		}
	}
	return names, hosts
}

// cutApp takes the app's name off the name of a function or an output.
func cutApp(h *Host, name string) (own string, ok bool) {
	if h.name == "" {
		return "", false
	}
	return cutPrefixFold(name, h.name+"/")
}

func cutPrefixFold(text, prefix string) (string, bool) {
	if len(text) > len(prefix) && strings.EqualFold(text[:len(prefix)], prefix) {
		return text[len(prefix):], true
	}
	return "", false
}

// knows reports whether the app has a function, or had one in this run.
func knows(h *Host, function string) bool {
	if a := h.ran(); a != nil && a.Function(function) != nil {
		return true
	}
	return function != "" && slices.ContainsFunc(h.records(), func(r journal.Record) bool { return r.App == h.name && names(&r, h.name, function) })
}

// outputOf is the host of an output that is named with its app, and its name there.
func outputOf(h *Host, name string) (of *Host, own string) {
	for _, a := range appsOf(h) {
		if own, ok := cutApp(a, name); ok {
			return a, own
		}
	}
	return h, name
}

// mustBeAlone ends the test at a call that concerns the services of all apps.
func mustBeAlone(h *Host, call string) {
	h.tb.Helper()
	if h.run != nil && len(h.run.apps) > 1 {
		h.tb.Fatalf("hosttest: %s: the services are those of %d apps", call, len(h.run.apps))
	}
}

// replaceAmong replaces an app among several, which end ends, by another run of it that has not
// begun. Of the records behind number last those of its functions come to nothing.
func replaceAmong(h *Host, end func() error, last uint64) {
	h.tb.Helper()
	h.ran()
	beside := h.Host
	if i := slices.IndexFunc(h.run.apps, func(a *Host) bool { return a != h }); i >= 0 {
		beside = h.run.apps[i].Host
	}
	fresh, err := h.make(h, beside)
	if err == nil {
		h.drive(func() { err = end() })
	}
	if err != nil {
		h.tb.Fatalf("hosttest: stop: %v", err)
	}
	now := h.Journal().Len()
	if last < now {
		h.run.dead = append(h.run.dead, deadSpan{h.name, last, now})
	}
	h.Host, h.cursor, h.down = fresh, now+1, true
}

// lived leaves out the records of dead apps.
func (r *appRun) lived(records []journal.Record) []journal.Record {
	if r == nil || len(r.dead) == 0 {
		return records
	}
	return slices.DeleteFunc(slices.Clone(records), func(rec journal.Record) bool {
		return rec.Function != "" && slices.ContainsFunc(r.dead, func(d deadSpan) bool { return rec.App == d.app && d.from < rec.Seq && rec.Seq <= d.to })
	})
}

// FullName is a function's name as records have it: of several apps "app/function". A name
// that no app has, or that several have, ends the test.
func (h *Host) FullName(function string) string {
	h.tb.Helper()
	return h.mustKnow(function)
}
