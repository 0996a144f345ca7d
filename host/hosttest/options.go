package hosttest

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/redeliver/redeliver/host/app/appsettings"
	"github.com/redeliver/redeliver/schemas"
)

// check finds options that have no effect, or another one than they say.
func (o *Options) check() error {
	if o.Processors < 0 {
		return fmt.Errorf("Options.Processors is %d: want a number of processors, or 0", o.Processors)
	}
	for _, setting := range o.Env {
		if name, _, ok := strings.Cut(setting, "="); !ok || name == "" {
			return fmt.Errorf("Options.Env has %q: want NAME=VALUE", setting)
		}
	}
	if o.Unjudged {
		return nil
	}
	for what, files := range map[string]map[string]string{"Files": o.Files, "Overlay": o.Overlay} {
		for _, name := range slices.Sorted(maps.Keys(files)) {
			if near := misnamed(name); near != "" {
				return fmt.Errorf("file %q of Options.%s: no host reads a file of this name; did you mean %q?", name, what, near)
			}
		}
	}
	if o.Dir == "" || o.Files["host.json"] != "" || o.Overlay["host.json"] != "" {
		return nil
	}
	if info, err := os.Stat(o.Dir); err == nil && info.IsDir() && o.Executable == "" && o.Handlers == nil && o.Attached == nil && !described(o.Dir) {
		return fmt.Errorf("Options.Dir is %q, which is no app: it has no host.json and no function.json", o.Dir)
	}
	return nil
}

// described reports whether a folder has files that only an app has.
func described(dir string) bool {
	for _, pattern := range []string{"host.json", filepath.Join("*", "function.json")} {
		if found, _ := filepath.Glob(filepath.Join(dir, pattern)); len(found) > 0 { // the pattern is good
			return true
		}
	}
	return false
}

// mustMean ends the test at names in the options that are of nothing in the app that runs.
func mustMean(h *Host, o *Options) {
	h.tb.Helper()
	a := h.ran()
	if a == nil || h.StartError != nil || o.Unjudged {
		return
	}
	if len(a.Functions) == 0 && o.Dir != "" && o.Handlers == nil {
		h.tb.Fatalf("hosttest: the app in %q has no functions", o.Dir)
	}
	var own []string
	for _, f := range a.Functions {
		own = append(own, f.Name)
	}
	for _, name := range o.Functions {
		if a.Function(name) == nil {
			h.tb.Fatalf("hosttest: Options.Functions: the app has no function %q%s", name, orMeant(name, own))
		}
	}
	known := append(own, o.Functions...)
	for _, setting := range o.Env {
		name, value, _ := strings.Cut(setting, "=")
		if function, ok := appsettings.SwitchedOff(name); ok && !slices.ContainsFunc(known, func(k string) bool { return strings.EqualFold(k, function) }) {
			h.tb.Fatalf("hosttest: Options.Env: %s: the app has no function %q%s", name, function, orMeant(function, known))
		}
		if section, ok := appsettings.HostSetting(name, value); ok {
			if list := section.Unknown(schemas.HostJSON); len(list) > 0 {
				h.tb.Fatalf("hosttest: Options.Env: %s: %s %s", name, list[0].Reason, list[0].Hint)
			}
		}
	}
}
