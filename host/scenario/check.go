package scenario

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/schemas"
)

// check finds what the schema cannot say.
func (s *Scenario) check() (faults []*schemas.Fault) {
	names := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(s.Functions)) {
		f := s.Functions[name]
		if other, twice := names[strings.ToLower(name)]; twice {
			faults = append(faults, s.doc.Fault(schemas.JoinPath("functions", name), schemas.Quote(name), "", fmt.Sprintf("the function stands here twice: names ignore case, and there is %q", other)))
		}
		names[strings.ToLower(name)] = name
		at := schemas.JoinPath("functions", name)
		if f.Trigger != nil && !app.ValidName(s.ownName(name)) {
			faults = append(faults, s.doc.Fault(at, schemas.Quote(name), "a letter, then letters, digits, - and _", "this is no name of a function"))
		}
		if f.Trigger == nil && s.App == "" && len(s.Apps) == 0 {
			faults = append(faults, s.doc.Fault(schemas.JoinPath(at, "trigger"), "", `a trigger binding, such as {type: queueTrigger, queueName: orders}`, "a function without an app needs a trigger"))
		}
		faults = append(faults, s.orchestratorFaults(name, f)...)
		if f.Handler != nil {
			for i, a := range f.Handler.actions {
				if a.Do == "retryAfter" && a.After == 0 {
					faults = append(faults, s.doc.Fault(schemas.JoinPath(at, "handler"), "", "a span such as 10s", fmt.Sprintf("action %d is retryAfter and has no 'after'", i+1)))
				}
				if i > 0 && f.Handler.actions[i-1].stays() {
					faults = append(faults, s.doc.Fault(f.Handler.path(at, i), "", "", "no attempt comes to this action: the one before it has no times, match or chance, and stays"))
					break
				}
			}
		}
	}
	for i := range s.When {
		at := schemas.IndexPath("when", i)
		if send := s.When[i].Send; send != nil {
			faults = s.checkSend(schemas.JoinPath(at, "send"), send, faults)
		}
		if f := s.When[i].Fault; f != nil {
			faults = s.checkFault(schemas.JoinPath(at, "fault"), f, faults)
		}
		if c := s.When[i].Orchestration; c != nil {
			faults = append(faults, s.controlFaults(schemas.JoinPath(at, "orchestration"), c)...)
		}
		if a := s.When[i].Await; a != nil {
			faults = append(faults, s.awaitFaults(schemas.JoinPath(at, "await"), a)...)
		}
		if of := s.When[i].SendEvents; of != nil && of.Partition != nil && of.Key != "" {
			faults = append(faults, s.doc.Fault(at+".sendEvents.partition", "", "one of them", "events go to the partition of their key"))
		}
	}
	faults = s.checkApps(s.checkWords(s.checkFiles(s.checkEmpty(faults))))
	if s.App == "" && len(s.Apps) == 0 && len(s.Functions) == 0 && !s.language.attached {
		faults = append(faults, s.doc.Fault("app", "", "the folder of an app, or functions with triggers", "the scenario has no app and no functions"))
	}
	schemas.Sort(faults)
	return faults
}

// checkEmpty finds expectations that expect nothing: they hold whatever happens.
func (s *Scenario) checkEmpty(faults []*schemas.Fault) []*schemas.Fault {
	const reason, allowed = "it expects nothing, and holds whatever happens", "what must hold: functions, queues, blobs, ..."
	looks := false
	for i := range s.When {
		st := &s.When[i]
		looks = looks || st.RaiseEvent != nil && !st.RaiseEvent.MayBeUnread || st.Expect != nil || st.Await != nil || st.Request != nil || st.Fault != nil || st.Send != nil && st.Send.Refused != nil || st.Crash != nil && st.Crash.Point != ""
		if st.Expect != nil && st.Expect.empty() {
			faults = append(faults, s.doc.Fault(schemas.JoinPath(schemas.IndexPath("when", i), "expect"), "", allowed, reason))
		}
	}
	faults = s.checkContains("", s.doc.Value(), faults)
	if s.Then.empty() && !looks {
		faults = append(faults, s.doc.Fault("then", "", allowed, reason))
	}
	return faults
}

// checkSend finds what a step would leave out: messages of another service, or words that
// the service does not have.
func (s *Scenario) checkSend(at string, m *send, faults []*schemas.Fault) []*schemas.Fault {
	wrong := func(key, reason, allowed string) {
		faults = append(faults, s.doc.Fault(schemas.JoinPath(at, key), "", allowed, reason))
	}
	switch {
	case m.Queue == "" && m.ServiceBus == "":
		faults = append(faults, s.doc.Fault(at, "", "queue or serviceBus", "send names no queue and no entity of Service Bus"))
	case m.Queue != "" && m.ServiceBus != "":
		wrong("queue", "send names a queue and an entity of Service Bus", "one of them: write each as a step")
	}
	if m.Body.raw != nil && m.Bodies != nil {
		wrong("body", "send has a body and bodies", "one of them")
	}
	if m.ServiceBus == "" {
		for key, given := range map[string]bool{
			"messageId": m.MessageID != "", "sessionId": m.SessionID != nil, "properties": m.Properties != nil, "refused": m.Refused != nil,
		} {
			if given {
				wrong(key, "a storage queue has no "+key, "only of Service Bus")
			}
		}
	}
	return faults
}

// checkFault finds a fault that would be for another operation than it says.
func (s *Scenario) checkFault(at string, f *fault, faults []*schemas.Fault) []*schemas.Fault {
	named := f.places
	if f.Output != "" {
		named = append(slices.Clone(named), "output")
	}
	if len(named) > 1 {
		faults = append(faults, s.doc.Fault(schemas.JoinPath(at, named[1]), "", "one of them: write each as a step", fmt.Sprintf("the fault names %s and %s", named[0], named[1])))
	}
	if f.Output != "" {
		for key, given := range map[string]bool{
			"operation": f.Operation != "", "diskFull": f.DiskFull, "after": f.After, "lost": f.Lost, "latency": f.Latency != 0, "status": f.Status != 0, "for": f.For != 0,
		} {
			if given {
				faults = append(faults, s.doc.Fault(schemas.JoinPath(at, key), "", "times and error", "an output that cannot be written has no "+key))
			}
		}
	}
	return faults
}

// checkContains finds {contains: ""} and its kin: everything contains nothing.
func (s *Scenario) checkContains(at string, value any, faults []*schemas.Fault) []*schemas.Fault {
	switch value := value.(type) {
	case map[string]any:
		part, ok := value["contains"]
		if ok && len(value) == 1 && strings.HasPrefix(at, "then") || ok && len(value) == 1 && strings.Contains(at, ".expect") {
			if part == nil || part == "" || emptyOf(part) {
				faults = append(faults, s.doc.Fault(schemas.JoinPath(at, "contains"), "", "a text, or properties of an object", "it expects nothing"))
			}
			return faults
		}
		for _, key := range slices.Sorted(maps.Keys(value)) {
			faults = s.checkContains(schemas.JoinPath(at, key), value[key], faults)
		}
	case []any:
		for i, v := range value {
			faults = s.checkContains(schemas.IndexPath(at, i), v, faults)
		}
	}
	return faults
}

func emptyOf(part any) bool {
	object, isObject := part.(map[string]any)
	list, isList := part.([]any)
	return isObject && len(object) == 0 || isList && len(list) == 0
}
