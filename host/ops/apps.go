package ops

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/redeliver/redeliver/host"
	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/host/kinds/served"
	"github.com/redeliver/redeliver/schemas"
)

// A run may have several apps on one clock, with the same services and one journal. Each
// has a server, whose admin API and functions are those of its app. The control API of any
// of them speaks of them all: there a function is "app/function", and the function's name
// alone will do where one app has it.

// Apps are the hosts of the run.
func (e *Env) Apps() []*host.Host { return host.Apps(e.Host) }

// Qualified is the name of a function of a host in the control API.
func Qualified(h *host.Host, function string) string {
	return journal.Qualified(h.AppName(), function)
}

// FunctionNames are the functions of all apps.
func (e *Env) FunctionNames() (names []string) {
	for _, h := range e.Apps() {
		if a := h.App(); a != nil {
			for _, f := range a.Functions {
				names = append(names, Qualified(h, f.Name))
			}
		}
	}
	return names
}

// Function finds the function that a caller names: its host, and its name there. A name
// that several apps have is refused with all that may be meant.
func (e *Env) Function(name string) (of *host.Host, own string, err error) {
	var found []string
	for _, h := range e.Apps() {
		a := h.App()
		if a == nil {
			continue
		}
		for _, f := range a.Functions {
			full := Qualified(h, f.Name)
			if strings.EqualFold(full, name) {
				return h, f.Name, nil
			}
			if strings.EqualFold(f.Name, name) {
				of, own, found = h, f.Name, append(found, full)
			}
		}
	}
	switch len(found) {
	case 0:
		return nil, "", e.noFunction(name)
	case 1:
		return of, own, nil
	}
	return nil, "", Refuse(http.StatusConflict, fmt.Sprintf("%d apps of this run have a function %q", len(found), name), "say which: "+strings.Join(found, " or "))
}

// noFunction refuses a name that no app has, with the one meant: of another app it may be.
func (e *Env) noFunction(name string) error {
	all := e.FunctionNames()
	if len(e.Apps()) == 1 {
		return e.NoSuch("function", name, all)
	}
	last := func(n string) string { return n[strings.LastIndexByte(n, '/')+1:] }
	var own, meant []string
	for _, n := range all {
		own = append(own, last(n))
	}
	near := schemas.Nearest(last(name), own)
	for _, n := range all {
		if strings.EqualFold(last(n), last(name)) || near != "" && last(n) == near {
			meant = append(meant, fmt.Sprintf("%q", n))
		}
	}
	hint := `"redeliver ls" lists what there is`
	if len(meant) > 0 {
		hint = "did you mean " + strings.Join(meant, " or ") + "?"
	}
	return Refuse(http.StatusNotFound, fmt.Sprintf("no app of this run has a function %q", name), hint)
}

// AppOf is the app of a record's function, nil when it does not run.
func (e *Env) AppOf(name string) *host.Host {
	for _, h := range e.Apps() {
		if a := h.App(); a != nil && slices.ContainsFunc(a.Functions, func(f *app.Function) bool { return strings.EqualFold(Qualified(h, f.Name), name) }) {
			return h
		}
	}
	return nil
}

// Report is what the running apps do, nil when none runs. Of several it has the functions,
// faults and lints of all.
func (e *Env) Report() (all *app.Report) {
	for _, h := range e.Apps() {
		a := h.App()
		if a == nil {
			continue
		}
		r := served.Report(a, h.Env())
		if h.AppName() != "" {
			r = named(h, r)
		}
		if all == nil {
			all = r
			continue
		}
		all.Functions = append(all.Functions, r.Functions...)
		all.Errors, all.Warnings, all.Lints = append(all.Errors, r.Errors...), append(all.Warnings, r.Warnings...), append(all.Lints, r.Lints...)
	}
	return all
}

// named is a report with the name of its app before the names of functions and files.
func named(h *host.Host, r *app.Report) *app.Report {
	out := *r
	out.Functions = slices.Clone(r.Functions)
	for i := range out.Functions {
		f := &out.Functions[i]
		f.Name, f.File = Qualified(h, f.Name), Qualified(h, f.File)
	}
	for _, list := range []*[]app.Problem{&out.Errors, &out.Warnings} {
		*list = slices.Clone(*list)
		for i := range *list {
			p := &(*list)[i]
			p.Function, p.File = Qualified(h, p.Function), Qualified(h, p.File)
		}
	}
	out.Lints = slices.Clone(r.Lints)
	for i := range out.Lints {
		l := &out.Lints[i]
		l.Function, l.File = Qualified(h, l.Function), Qualified(h, l.File)
	}
	return &out
}

// Standings are how the apps stand where there are several.
func (e *Env) Standings() (list []app.Standing) {
	for _, h := range e.Apps() {
		if h.AppName() == "" {
			return nil
		}
		st := app.Standing{Name: h.AppName(), Folder: h.Dir(), State: string(h.State()), Errors: h.Errors(), Generation: h.Generation()}
		if a := h.App(); a != nil {
			st.LogLevels = a.Config.LogLevels
		}
		list = append(list, st)
	}
	return list
}

// Errors are what keeps apps from running, by their names where there are several.
func (e *Env) Errors() (list []string) {
	for _, h := range e.Apps() {
		for _, text := range h.Errors() {
			if h.AppName() != "" {
				text = h.AppName() + ": " + text
			}
			list = append(list, text)
		}
	}
	return list
}
