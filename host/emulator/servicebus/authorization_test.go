package servicebus_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	servicebusapi "github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/emulator/servicebus"
)

// TestAuthorizationRulesAreDurable: a namespace that is opened again has the rules, those
// keys included that it made.
func TestAuthorizationRulesAreDurable(t *testing.T) {
	t.Parallel()
	db := openMemory(t, nil)
	clk := newVirtual()
	var made, kept *servicebusapi.TopicInfo
	for _, step := range []func(ns *servicebus.Namespace) error{
		func(ns *servicebus.Namespace) (err error) {
			made, err = ns.CreateTopic(context.Background(), servicebusapi.Topic{Name: "t", AuthorizationRules: []servicebusapi.AuthorizationRule{
				{KeyName: "senders", PrimaryKey: "one", Rights: []servicebusapi.Right{servicebusapi.Send}},
			}})
			return err
		},
		func(ns *servicebus.Namespace) (err error) {
			kept, err = ns.GetTopic(context.Background(), "t")
			return err
		},
	} {
		ns, err := servicebus.Open(clk, db, nil)
		if err != nil {
			t.Fatal(err)
		}
		clk.Do("test", func() { err = step(ns) })
		if err != nil {
			t.Fatal(err)
		}
	}
	if r := kept.AuthorizationRules[0]; r.PrimaryKey != "one" || r.SecondaryKey == "" {
		t.Errorf("rule %+v, want the key given and one made", r)
	}
	if diff := cmp.Diff(made.AuthorizationRules, kept.AuthorizationRules); diff != "" {
		t.Errorf("rules (-made +kept):\n%s", diff)
	}
}
