package main

import (
	"reflect"
	"slices"
	"testing"

	"github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/emulator/servicebus/setting"
	servicebuops "github.com/redeliver/redeliver/host/ops/servicebus"
)

// What the service has a setting for the control API has, and create a flag. Left out is
// what has no effect here.
func TestEverySettingHasAFlag(t *testing.T) {
	t.Parallel()
	settings := reflect.TypeFor[servicebuops.BusSettings]()
	without := map[string]bool{"DeadLetteringOnFilterEvaluationExceptions": true} // --drop-on-filter-error
	for i := range settings.NumField() {
		name := settings.Field(i).Name
		if !slices.ContainsFunc(settingFlags, func(f struct{ name, setting, words string }) bool { return f.setting == name }) && !without[name] {
			t.Errorf("no flag sets %s", name)
		}
	}
	echoed := reflect.TypeFor[servicebus.Echoed]()
	for _, entity := range []any{&servicebus.Queue{}, &servicebus.Topic{}, &servicebus.Subscription{}} {
		for _, name := range setting.Names(entity) {
			_, known := settings.FieldByName(name)
			if _, silent := echoed.FieldByName(name); known == silent {
				t.Errorf("%s of a %T: in the control API is %t, want %t", name, entity, known, !silent)
			}
		}
	}
}
