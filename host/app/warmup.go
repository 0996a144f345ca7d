package app

import "strings"

// WarmUpTrigger is the type of the warm-up trigger.
const WarmUpTrigger = "warmupTrigger"

// WarmUp is the function that the call of /admin/warmup runs, or nil.
func (a *App) WarmUp() *Function {
	for _, f := range a.Functions {
		if f.WarmsUp() {
			return f
		}
	}
	return nil
}

// WarmsUp reports whether the platform calls a warm-up function: only the one named
// "warmup", in any case (functions-bindings-warmup).
func (f *Function) WarmsUp() bool {
	return f.Trigger.Type == WarmUpTrigger && strings.EqualFold(f.Name, "warmup")
}
