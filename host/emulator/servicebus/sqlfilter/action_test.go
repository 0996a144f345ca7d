package sqlfilter_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/emulator/servicebus/sqlfilter"
)

// TestAction follows docs: Subscription Rule SQL Action Syntax.
func TestAction(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, text string
		change     func(m *servicebus.Message)
	}{
		{"set new", "SET source = 'routed'", func(m *servicebus.Message) { m.ApplicationProperties["source"] = "routed" }},
		{"set again, in any case", "set COLOR = 'blue';", func(m *servicebus.Message) { m.ApplicationProperties["color"] = "blue" }},
		{"remove", "REMOVE color", func(m *servicebus.Message) { delete(m.ApplicationProperties, "color") }},
		{"remove what is not there", "REMOVE missing", func(*servicebus.Message) {}},
		{"in order", "SET n = 1; SET n = n + 1 SET n = n * 10", func(m *servicebus.Message) { m.ApplicationProperties["n"] = int64(20) }},
		{"system", "SET sys.Label = 'x'; SET sys.To = NULL; REMOVE sys.SessionId; SET sys.ReplyTo = newid()", func(m *servicebus.Message) {
			m.Subject, m.To, m.SessionID, m.ReplyTo = "x", "", nil, newID().String()
		}},
		{"session", "SET sys.SessionId = 'other'", func(m *servicebus.Message) { s := "other"; m.SessionID = &s }},
		{"unknown is NULL", "SET a = missing + 1", func(m *servicebus.Message) { m.ApplicationProperties["a"] = nil }},
		{"converted to a string", "SET color = 5; SET tag = TRUE", func(m *servicebus.Message) {
			m.ApplicationProperties["color"], m.ApplicationProperties["tag"] = "5", "True"
		}},
		{"converted to a number", "SET size = '12'; SET weight = 3", func(m *servicebus.Message) {
			m.ApplicationProperties["Size"], m.ApplicationProperties["weight"] = int64(12), 3.0
		}},
		{"not convertible", "SET size = 'many'", func(m *servicebus.Message) { m.ApplicationProperties["Size"] = "many" }},
		{"scheduled time stays", "SET sys.ScheduledEnqueueTimeUtc = due", func(*servicebus.Message) {}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			a, err := sqlfilter.ParseAction(servicebus.SQL{Expression: test.text}, newID)
			if err != nil {
				t.Fatal(err)
			}
			got, want := message(), message()
			before := got.ApplicationProperties
			if err := a.Apply(got); err != nil {
				t.Fatal(err)
			}
			test.change(want)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("after %s (-want +got):\n%s", test.text, diff)
			}
			if diff := cmp.Diff(message().ApplicationProperties, before); diff != "" {
				t.Errorf("the map that was shared has changed:\n%s", diff)
			}
		})
	}
	none := &servicebus.Message{}
	a, err := sqlfilter.ParseAction(servicebus.SQL{Expression: "REMOVE b; SET a = @v", Parameters: map[string]any{"v": 1}}, newID)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Apply(none); err != nil || none.ApplicationProperties["a"] != int64(1) {
		t.Errorf("a message without properties: %v, %v", none.ApplicationProperties, err)
	}
}

func TestActionFailure(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"SET a = 1; SET sys.Nothing = 1", "SET a = 1; REMOVE sys.Nothing", "SET a = 1; SET sys.Label = 1", "SET a = 1; SET b = 1 / 0", "SET a = sys.Nothing", "SET sys.DeliveryCount = 0"} {
		a, err := sqlfilter.ParseAction(servicebus.SQL{Expression: text}, newID)
		if err != nil {
			t.Fatal(err)
		}
		m := message()
		var failure *sqlfilter.FilterError
		if err := a.Apply(m); !errors.As(err, &failure) {
			t.Errorf("%s: got %v, want a FilterError", text, err)
		}
		if diff := cmp.Diff(message(), m); diff != "" {
			t.Errorf("%s failed and changed the message:\n%s", text, diff)
		}
	}
	for text, want := range map[string]string{
		"": "SET or REMOVE expected", ";": "SET or REMOVE expected", "color = 1": "SET or REMOVE expected", "SET color": `"=" expected`,
		"SET a = ": "a value or a property expected", "REMOVE": "a value or a property expected", "SET a = 1 = 2": "SET or REMOVE expected",
	} {
		var syntax *sqlfilter.SyntaxError
		if _, err := sqlfilter.ParseAction(servicebus.SQL{Expression: text}, newID); !errors.As(err, &syntax) || !strings.Contains(err.Error(), want) {
			t.Errorf("ParseAction(%q): got %v, want a SyntaxError with %q", text, err, want)
		}
	}
}

// FuzzAction looks for texts that crash the parser or an action.
func FuzzAction(f *testing.F) {
	for _, text := range []string{"SET a = 1", "REMOVE a;SET sys.Label = newid()", "SET [x y] = p('a') + 1.5;;"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		a, err := sqlfilter.ParseAction(servicebus.SQL{Expression: text}, newID)
		if err != nil {
			return
		}
		m := message()
		if err := a.Apply(m); err != nil && !cmp.Equal(message(), m) {
			t.Errorf("%q failed and changed the message", text)
		}
	})
}
