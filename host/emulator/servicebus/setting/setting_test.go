package setting_test

import (
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/emulator/servicebus/setting"
)

// The table has every field of a description that a user can set, with a default that
// the field can hold.
func TestTableHasEveryField(t *testing.T) {
	t.Parallel()
	for _, entity := range []any{&servicebus.Queue{}, &servicebus.Topic{}, &servicebus.Subscription{}} {
		of := reflect.TypeOf(entity).Elem()
		var want []string
		for _, f := range reflect.VisibleFields(of) {
			switch f.Name {
			case "Name", "Topic", "AuthorizationRules", "ForwardToAddress", "ForwardDeadLetteredMessagesToAddress":
			default:
				if !f.Anonymous {
					want = append(want, f.Name)
				}
			}
		}
		got := setting.Names(entity)
		slices.Sort(got)
		slices.Sort(want)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", of, diff)
		}
		for _, v := range setting.Of(entity) {
			v.Complete()
			if at := reflect.ValueOf(v.In).Elem(); v.Default != nil && at.IsZero() {
				t.Errorf("%s.%s is not set by its default", of, v.Name)
			}
		}
	}
}
