package app

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/redeliver/redeliver/host/app/document"
	"github.com/redeliver/redeliver/schemas"
)

// The types of bindings of Durable Functions.
const (
	OrchestrationTrigger = "orchestrationTrigger"
	ActivityTrigger      = "activityTrigger"
	EntityTrigger        = "entityTrigger"
	DurableClient        = "durableClient"
	OrchestrationClient  = "orchestrationClient" // of packages before 2.0
)

// durableNames are the properties by which triggers of Durable Functions name a function.
var durableNames = map[string]string{ // read only
	strings.ToLower(OrchestrationTrigger): "orchestration",
	strings.ToLower(ActivityTrigger):      "activity",
	strings.ToLower(EntityTrigger):        "entityName",
}

// pythonSpellings are properties as the Python library writes them (spec durable 2.1).
var pythonSpellings = map[string]string{ // read only
	"entityName": "entity_name", "taskHub": "task_hub", "connectionName": "connection_name",
}

// DurableProperty is a property of a binding of Durable Functions, also in the spelling of
// the Python library.
func (b *Binding) DurableProperty(key string) string {
	return cmp.Or(b.String(key), b.String(pythonSpellings[key]))
}

// DurableName is the name under which orchestrations know the function: the one that its
// trigger has, else the function's own. It is empty for functions of other kinds. Names
// compare without case.
func (f *Function) DurableName() string {
	if f.Trigger == nil {
		return ""
	}
	key, ok := durableNames[strings.ToLower(f.Trigger.Type)]
	if !ok {
		return ""
	}
	return cmp.Or(f.Trigger.DurableProperty(key), f.Name)
}

// IsDurable reports whether a binding of the function is one of Durable Functions.
func (f *Function) IsDurable() bool {
	return slices.ContainsFunc(f.Bindings, func(b *Binding) bool {
		_, trigger := durableNames[strings.ToLower(b.Type)]
		return trigger || b.Is(DurableClient) || b.Is(OrchestrationClient)
	})
}

// IsDurable reports whether a function of the app has a binding of Durable Functions.
func (a *App) IsDurable() bool { return slices.ContainsFunc(a.Functions, (*Function).IsDurable) }

// UsesDurable reports whether a function with a binding of Durable Functions runs.
func (a *App) UsesDurable() bool {
	return slices.ContainsFunc(a.Functions, func(f *Function) bool { return f.IsDurable() && f.Runs() })
}

// durableClash puts functions in error whose name orchestrations cannot use: two of one
// kind with one name, and names that begin with "@", as the ids of entities do (ext:
// OrchestrationTriggerAttributeBindingProvider.cs).
func (l *loader) durableClash(functions []*Function) {
	type key struct{ kind, name string }
	of := map[key][]*Function{}
	for _, f := range functions {
		name := f.DurableName()
		if name == "" {
			continue
		}
		if strings.HasPrefix(name, "@") {
			f.durableFault(name, "a name that does not begin with @", "names of orchestrators, activities and entities must not begin with @")
		}
		k := key{strings.ToLower(f.Trigger.Type), strings.ToLower(name)}
		of[k] = append(of[k], f)
	}
	for k, same := range of {
		for _, f := range same {
			if len(same) > 1 {
				other := same[0]
				if other == f {
					other = same[1]
				}
				f.durableFault(f.DurableName(), "", fmt.Sprintf("the function %q has this name too, as a function of the trigger %s; letter case does not count", other.Name, f.Trigger.Type)).Hint =
					"give one of them another " + durableNames[k.kind]
			}
		}
	}
}

func (f *Function) durableFault(name, allowed, reason string) *schemas.Fault {
	return f.fault(indexing, f.Trigger.PathOf(durableNames[strings.ToLower(f.Trigger.Type)]), schemas.KindArgument, schemas.Quote(name), allowed, reason)
}

// hubNames are the names that the platform takes for a hub (ext:
// Options/AzureStorageOptions.cs).
var hubNames = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9]{2,44}$`) // read only

const (
	defaultHub  = "TestHubName"
	siteSetting = "WEBSITE_SITE_NAME"
	longestHub  = 45
	shortestHub = 3
)

// TaskHub is the name of the app's task hub: hubName of host.json, with settings in their
// places, else what can be made of the setting WEBSITE_SITE_NAME, else "TestHubName".
func (a *App) TaskHub() string {
	if a.Config.Durable.HubName != "" {
		name, _ := a.Settings.Unresolved(a.Config.Durable.HubName)
		return name
	}
	return cleanHub(a.Settings.Get(siteSetting))
}

// cleanHub makes the name of a hub of the name of a site, as the platform does: other
// characters than letters and digits are left out, a "t" stands before a digit, "Hub" behind
// a short name (ext: Options/DurableTaskOptions.cs).
func cleanHub(site string) string {
	name := strings.Map(func(r rune) rune {
		if r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
			return r
		}
		return -1
	}, site)
	if name == "" {
		return defaultHub
	}
	if unicode.IsDigit(rune(name[0])) {
		name = "t" + name
	}
	if len(name) < shortestHub {
		name += "Hub"
	}
	return name[:min(len(name), longestHub)]
}

// checkHub refuses a name that no hub can have. Only apps with Durable Functions load the
// extension that looks at it.
func (l *loader) checkHub() {
	d := l.app.Config.Durable
	if d.HubName == "" || !l.app.IsDurable() {
		return
	}
	name, missing := l.app.Settings.Unresolved(d.HubName)
	reason := fmt.Sprintf("Task hub name '%s' should contain only alphanumeric characters, start with a letter, and have length between 3 and 45", name)
	switch {
	case len(missing) > 0:
		reason = strings.TrimSuffix(missing[0].Error(), ".")
	case hubNames.MatchString(name):
		return
	}
	path := d.At + ".hubName"
	l.fault(&schemas.Fault{
		File: l.app.hostDoc.Source(path), Path: path, Kind: schemas.KindArgument, Found: schemas.Quote(d.HubName), Reason: reason,
		Allowed: "3 to 45 letters and digits, first a letter", Hint: "the platform's host does not come up with this name",
	})
	document.Position(l.staged[len(l.staged)-1].fault, l.app.hostDoc)
}

// noteDurable tells what section durableTask asks for and does not get here (spec durable 1.2).
func (l *loader) noteDurable() {
	d := l.app.Config.Durable
	if !l.app.IsDurable() {
		return
	}
	note := func(asked bool, key, reason string) {
		if asked {
			path := d.At + "." + key
			l.warn(l.app.hostDoc.Fault(path, "", "", "durableTask: "+reason))
		}
	}
	note(d.Provider != "" && !strings.EqualFold(d.Provider, "azureStorage"), "storageProvider.type",
		"the storage provider "+d.Provider+" is not emulated; instances are kept in Redeliver's own store")
	note(d.ExtendedSessions, "extendedSessionsEnabled", "extended sessions are for .NET in the host's own process only: the setting has no effect")
	note(d.Notifications, "notifications.eventGrid", "life cycle events are not published")
	for _, key := range []string{"defaultVersion", "versionMatchStrategy", "versionFailureStrategy"} {
		if _, given := l.app.hostDoc.Lookup(d.At + "." + key); given {
			note(true, key, "versions of orchestrations are recorded, and none is refused or chosen by its version")
			break
		}
	}
}
