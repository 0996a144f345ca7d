package scenario

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/explain"
	"github.com/redeliver/redeliver/host/hosttest"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/host/kinds/served"
	"github.com/redeliver/redeliver/schemas"
)

// A part is one app of a scenario.
type part struct {
	name string // among several; empty: it runs alone
	h    *hosttest.Host
	last *app.App // that ran, also while the host is down
	down bool
}

// app is the app that runs, or that ran before the host ended; nil when none has run.
func (p *part) app() *app.App {
	if a := p.h.App(); a != nil {
		p.last = a
	}
	return p.last
}

// A cast is the apps of a scenario: one, or several that run together.
type cast []*part

// of is the app that a name begins with, "app/...", and the rest; of one app it is the name.
func (c cast) of(name string) (p *part, own string, ok bool) {
	if len(c) == 1 {
		return c[0], name, true
	}
	for _, p := range c {
		if n := len(p.name) + 1; len(name) > n && strings.EqualFold(name[:n], p.name+"/") {
			return p, name[n:], true
		}
	}
	return nil, "", false
}

// function is the app that a function's name means, and the function's name there; nil: none
// has it, or several have it.
func (c cast) function(name string) (p *part, own string) {
	if p, own, ok := c.of(name); ok {
		return p, own
	}
	for _, of := range c {
		if a := of.app(); a != nil && a.Function(name) != nil {
			if p != nil {
				return nil, ""
			}
			p = of
		}
	}
	return p, name
}

// full is a function's name as records have it; a name that means none stays.
func (c cast) full(name string) string {
	if p, own := c.function(name); p != nil {
		return journal.Qualified(p.name, own)
	}
	return name
}

// defined is the app's own account of a function; nil: there is none.
func (c cast) defined(name string) *app.Function {
	if p, own := c.function(name); p != nil && p.app() != nil {
		return p.app().Function(own)
	}
	return nil
}

// subject is what explain is told of the apps.
func (c cast) subject(about explain.Subject) explain.Subject {
	if len(c) == 1 {
		if about.App = c[0].h.App(); about.App != nil {
			about.Report = served.Report(about.App, c[0].h.Env())
		}
		return about
	}
	about.Apps = map[string]*app.App{}
	for _, p := range c {
		a := p.h.App()
		if a == nil {
			continue
		}
		about.Apps[p.name] = a
		report := *served.Report(a, p.h.Env())
		report.Functions = slices.Clone(report.Functions)
		for i := range report.Functions {
			report.Functions[i].Name = journal.Qualified(p.name, report.Functions[i].Name)
		}
		if about.Report != nil {
			report.Functions = append(about.Report.Functions, report.Functions...)
		}
		about.Report = &report
	}
	return about
}

// end kills all apps that run.
func (c cast) end() {
	for _, p := range c {
		if !p.down {
			p.h.Kill()
			p.down = true
		}
	}
}

// died notes that an app is down.
func (c cast) died(h *hosttest.Host) {
	for _, p := range c {
		p.down = p.down || p.h == h
	}
}

// begin starts the apps that are down, or all of them: when none is, and at a restart.
func (c cast) begin(restart bool) {
	all := restart || !slices.ContainsFunc(c, func(p *part) bool { return p.down })
	for _, p := range c {
		if all || p.down {
			p.h.StartAgain()
			p.down = false
		}
	}
}

// scripts is the part of a scenario that is of one of its apps.
func (s *Scenario) scripts(name, folder string) *Scenario {
	own := *s
	own.of, own.App, own.Apps = name, folder, nil
	own.Functions = map[string]function{}
	for _, given := range slices.Sorted(maps.Keys(s.Functions)) {
		if rest, ok := strings.CutPrefix(given, name+"/"); ok {
			own.Functions[rest] = s.Functions[given]
		}
	}
	own.Settings = maps.Clone(s.Settings)
	if s.scripted() {
		own.played = true
	}
	return &own
}

// path is where the scenario says something of a function of its app.
func (s *Scenario) path(function string) string {
	return schemas.JoinPath("functions", journal.Qualified(s.of, function))
}

// ownName is the name that a function has in its app.
func (s *Scenario) ownName(name string) string {
	if len(s.Apps) == 0 {
		return name
	}
	return name[strings.LastIndexByte(name, '/')+1:]
}

// folders are the apps of a scenario, by their names.
func (s *Scenario) folders() (names, folders []string) {
	for _, given := range s.Apps {
		folder := filepath.Join(filepath.Dir(s.File), filepath.FromSlash(given))
		if whole, err := filepath.Abs(folder); err == nil {
			folder = whole
		}
		folders = append(folders, folder)
	}
	return app.Names(folders), folders
}

// checkApps finds what cannot be said of several apps.
func (s *Scenario) checkApps(faults []*schemas.Fault) []*schemas.Fault {
	if len(s.Apps) == 0 {
		return faults
	}
	wrong := func(at, found, reason, allowed string) {
		faults = append(faults, s.doc.Fault(at, found, allowed, reason))
	}
	if s.App != "" {
		wrong("app", schemas.Quote(s.App), "the scenario has app and apps", "one of them")
	}
	names, folders := s.folders()
	for i, folder := range folders {
		at := schemas.IndexPath("apps", i)
		if slices.Index(folders, folder) < i {
			wrong(at, schemas.Quote(s.Apps[i]), "the app stands here twice", "")
			continue
		}
		if info, err := os.Stat(folder); err != nil || !info.IsDir() {
			reason := fmt.Sprintf("there is no folder %q", s.Apps[i])
			if near := schemas.Meant(filepath.Base(folder), foldersIn(filepath.Dir(folder))); near != "" {
				reason += fmt.Sprintf("; did you mean %q?", strings.TrimSuffix(s.Apps[i], filepath.Base(folder))+near)
			}
			wrong(at, schemas.Quote(s.Apps[i]), reason, "the folder of an app, from the folder of the scenario's file")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Functions)) {
		if !slices.ContainsFunc(names, func(app string) bool { return strings.HasPrefix(name, app+"/") && len(name) > len(app)+1 }) {
			allowed := make([]string, len(names))
			for i, app := range names {
				allowed[i] = app + "/" + name[strings.LastIndexByte(name, '/')+1:]
			}
			wrong(schemas.JoinPath("functions", name), schemas.Quote(name), "of several apps a function has the name of its app before it", strings.Join(allowed, " or "))
		}
	}
	for _, name := range s.inError() {
		if !strings.Contains(name, "/") {
			wrong("then.functions", schemas.Quote(name), "of several apps a function in error has the name of its app before it", "app/"+name)
		}
	}
	if _, given := s.doc.Lookup("host.redeliver.eventGrid"); given {
		wrong("host.redeliver.eventGrid", "", "host is laid over the host.json of each app, and a subscription is of one", "topics in the host.json of the app whose function it is")
	}
	return s.checkAppsOfSteps(names, faults)
}

// checkAppsOfSteps is checkApps for the steps.
func (s *Scenario) checkAppsOfSteps(names []string, faults []*schemas.Fault) []*schemas.Fault {
	wrong := func(at, found, reason, allowed string) {
		faults = append(faults, s.doc.Fault(at, found, allowed, reason))
	}
	for i := range s.When {
		st, at := &s.When[i], schemas.IndexPath("when", i)
		switch {
		case st.ScaleOut:
			wrong(at+".scaleOut", "", "an app among several runs in one instance", "")
		case st.ScaleIn > 0:
			wrong(at+".scaleIn", "", "an app among several runs in one instance", "")
		case st.Crash != nil && st.Crash.Instance > 0:
			wrong(at+".crash.instance", "", "an app among several runs in one instance", "")
		case st.Request != nil && st.Request.App != "" && !hasName(names, st.Request.App):
			wrong(at+".request.app", schemas.Quote(st.Request.App), notAmong("app", st.Request.App, names), strings.Join(names, ", "))
		}
		for _, name := range append(slices.Sorted(maps.Keys(st.Edit)), st.Remove) {
			if first, _, _ := strings.Cut(name, "/"); name != "" && !slices.ContainsFunc(names, func(app string) bool { return strings.HasPrefix(name, app+"/") }) {
				key := schemas.JoinPath(at, "remove")
				if st.Edit != nil {
					key = schemas.JoinPath(schemas.JoinPath(at, "edit"), name)
				}
				wrong(key, schemas.Quote(name), notAmong("app", first, names), "a path that begins with the name of an app: "+strings.Join(names, ", "))
			}
		}
	}
	return faults
}

func hasName(names []string, name string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, name) })
}

// notAmong says that a name is none of those that there are, with the one that was meant.
func notAmong(what, name string, names []string) string {
	reason := fmt.Sprintf("the scenario has no %s %q", what, name)
	if near := schemas.Meant(name, names); near != "" {
		reason += fmt.Sprintf("; did you mean %q?", near)
	}
	return reason
}

// foldersIn are the names of the folders in a folder.
func foldersIn(dir string) (names []string) {
	entries, _ := os.ReadDir(dir) // none: nothing is near
	for _, e := range entries {
		if e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names
}
