package servicebus_test

import (
	"reflect"
	"testing"

	busapi "github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/emulator/servicebus/setting"
	"github.com/redeliver/redeliver/host/ops/servicebus"
)

// What the service has a setting for the control API has, and create a flag. Left out is
// what has no effect here.
func TestEverySettingHasAFlag(t *testing.T) {
	t.Parallel()
	settings := reflect.TypeFor[servicebus.BusSettings]()
	for i := range settings.NumField() {
		if f := settings.Field(i); f.Tag.Get("usage") == "" {
			t.Errorf("no flag sets %s", f.Name)
		}
	}
	echoed := reflect.TypeFor[busapi.Echoed]()
	for _, entity := range []any{&busapi.Queue{}, &busapi.Topic{}, &busapi.Subscription{}} {
		for _, name := range setting.Names(entity) {
			_, known := settings.FieldByName(name)
			if _, silent := echoed.FieldByName(name); known == silent {
				t.Errorf("%s of a %T: in the control API is %t, want %t", name, entity, known, !silent)
			}
		}
	}
}
