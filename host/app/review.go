package app

import (
	"strings"
	"time"
)

// A Review is a function that its kind lints.
type Review struct {
	App      *App
	Function *Function

	// Deliveries is how often a message that always fails is delivered; 0: for ever.
	Deliveries int

	linter *linter
	wait   wait // of one delivery
}

// Trigger adds a lint at a property of the trigger.
func (r *Review) Trigger(id, key, format string, args ...any) {
	r.linter.onBinding(id, r.Function, r.Function.Trigger, key, format, args...)
}

// Binding adds a lint at a property of another binding.
func (r *Review) Binding(b *Binding, id, key, format string, args ...any) {
	r.linter.onBinding(id, r.Function, b, key, format, args...)
}

// Policy adds a lint at the function's policy; without one it does nothing.
func (r *Review) Policy(id, message string) {
	if r.Function.Policy != nil {
		r.linter.onPolicy(id, r.Function, "", "%s", message)
	}
}

// LongLoop is Policy for a policy whose retries of one delivery may take longer than
// limit. {loop} and {limit} in message stand for both times in words.
func (r *Review) LongLoop(id string, limit time.Duration, message string) {
	if r.wait.unbounded || r.wait.max > limit {
		r.Policy(id, strings.NewReplacer("{loop}", inWords(r.wait), "{limit}", spanWords(limit)).Replace(message))
	}
}

// Setting adds a lint at a setting of host.json for functions with a policy: one for all
// of them, whose names stand for %s in format.
func (r *Review) Setting(id, path, format string) {
	if r.Function.Policy == nil {
		return
	}
	for _, s := range r.linter.settings {
		if s.id == id && s.path == path {
			s.functions = append(s.functions, r.Function.Name)
			return
		}
	}
	r.linter.settings = append(r.linter.settings, &settingLint{id, path, format, []string{r.Function.Name}})
}

// A settingLint is a lint at a setting of host.json that concerns some functions.
type settingLint struct {
	id, path, format string
	functions        []string
}
