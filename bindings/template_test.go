package bindings_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/bindings"
)

// newData returns binding data whose GUIDs count up and whose clock stands.
func newData(values map[string]any) *bindings.BindingData {
	n := 0
	return &bindings.BindingData{
		Values: values,
		Method: "Orders",
		Now:    func() time.Time { return time.Date(2024, 3, 5, 14, 7, 9, 123456700, time.FixedZone("", 3600)) },
		NewGUID: func() string {
			n++
			return fmt.Sprintf("ca761232-ed42-11ce-bacd-00aa0057b2%02x", n)
		},
	}
}

func TestTemplateResolve(t *testing.T) {
	t.Parallel()
	values := map[string]any{
		"QueueTrigger": `{"order":1}`,
		"DequeueCount": int64(3),
		"Flag":         true,
		"Ratio":        0.25,
		"When":         time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC),
		"Inserted":     bindings.DateTimeOffset{Time: time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC)},
		"order":        json.RawMessage(`{"Id":"7","n":5,"f":2.0,"t":true,"z":null,"big":12345678901234567890,"e":1e30,"in":{"deep":"x"},"list":[1]}`),
		"headers":      http.Header{"X-Ms-Id": {"a", "b"}},
		"query":        map[string]string{"Page": "2"},
		"metadata":     map[string]any{"key": "v"},
		"nothing":      nil,
	}
	tests := []struct{ template, want, fault string }{
		{"", "", ""},
		{"orders", "orders", ""},
		{"a/{QUEUETRIGGER}", `a/{"order":1}`, ""},
		{"{dequeueCount}-{flag}-{ratio}", "3-True-0.25", ""},
		{"{order.id}/{ORDER.In.deep}", "7/x", ""},
		{"{order.n}{order.f}{order.t}{order.z}{order.big}{order.e}", "52True123456789012345678901E+30", ""},
		{"{when}", "2020-01-02T03-04-05Z", ""},
		{"{when:yyyy}", "2020", ""},
		{"{headers.x-ms-id}", "a,b", ""},
		{"{query.page}{metadata.key}", "2v", ""},
		{"{rand-guid}", "ca761232-ed42-11ce-bacd-00aa0057b201", ""},
		{"{RAND-GUID:N}", "ca761232ed4211cebacd00aa0057b201", ""},
		{"{rand-guid:D}", "ca761232-ed42-11ce-bacd-00aa0057b201", ""},
		{"{rand-guid:b}", "{ca761232-ed42-11ce-bacd-00aa0057b201}", ""},
		{"{rand-guid:P}", "(ca761232-ed42-11ce-bacd-00aa0057b201)", ""},
		{"{rand-guid:X}", "{0xca761232,0xed42,0x11ce,{0xba,0xcd,0x00,0xaa,0x00,0x57,0xb2,0x01}}", ""},
		{"{rand-guid:N}{sys.randguid:N}", "ca761232ed4211cebacd00aa0057b201ca761232ed4211cebacd00aa0057b202", ""},
		{"{DateTime}", "2024-03-05T13-07-09Z", ""},
		{"{datetime:yyyy/MM/dd HH:mm}", "2024/03/05 13:07", ""},
		{"{datetime:HH.mm}", "13.07", ""},
		{"{sys.utcnow:yyyyMMdd}", "20240305", ""},
		{"{sys.methodname}/{Sys.UtcNow}", "Orders/2024-03-05T13-07-09Z", ""},
		{"{{20140101}}-{DequeueCount}", "{20140101}-3", ""},
		{"{{{DequeueCount}}}", "{3}", ""},

		{"x{order}{order.list}{order.z}{sys}{headers}y", "xy", ""},
		{"x{inserted}{inserted:yyyy}y", "xy", ""},

		{"{missing}", "", "No value for named parameter 'missing'."},
		{"{missing.part}", "", "No value for named parameter 'missing'."},
		{"{nothing}", "", "No value for named parameter 'nothing'."},
		{"{order.none}", "", "Error while accessing 'none': property doesn't exist."},
		{"{order.id.deeper}", "", "Error while accessing 'deeper': property doesn't exist."},
		{"{queueTrigger.order}", "", "Error while accessing 'order': property doesn't exist."},
		{"{sys.clock}", "", "Error while accessing 'clock': property doesn't exist."},
		{"{rand-guid:Q}", "", `Error while evaluating 'rand-guid': GUID format "Q": want N, D, B, P or X.`},
		{"{datetime:Q}", "", `Error while evaluating 'datetime': date and time format "Q": unknown standard format.`},
	}
	for _, tt := range tests {
		t.Run(tt.template, func(t *testing.T) {
			t.Parallel()
			template, err := bindings.ParseTemplate(tt.template)
			if err != nil {
				t.Fatalf("ParseTemplate(%q): %v", tt.template, err)
			}
			got, err := template.Resolve(newData(values))
			if tt.fault != "" {
				if e := (*bindings.ExpressionError)(nil); !errors.As(err, &e) || err.Error() != tt.fault {
					t.Errorf("Resolve(%q) error = %v, want %q", tt.template, err, tt.fault)
				}
				return
			}
			if err != nil || got != tt.want {
				t.Errorf("Resolve(%q) = %q, %v, want %q", tt.template, got, err, tt.want)
			}
		})
	}
}

// Data of the trigger hides the built-in of the same name.
func TestTemplateDataWinsOverBuiltIns(t *testing.T) {
	t.Parallel()
	data := newData(map[string]any{"DateTime": "noon", "rand-guid": "mine", "sys": map[string]any{"utcnow": "never"}})
	template, err := bindings.ParseTemplate("{datetime}/{datetime:yyyy}/{rand-guid}/{sys.utcnow}")
	if err != nil {
		t.Fatal(err)
	}
	got, err := template.Resolve(data)
	if want := "noon/noon/mine/never"; got != want || err != nil {
		t.Errorf("Resolve = %q, %v, want %q", got, err, want)
	}
}

func TestParseTemplateFaults(t *testing.T) {
	t.Parallel()
	tests := []struct {
		template string
		position int
		want     string
	}{
		{"{", 1, "Invalid template '{'. Missing closing bracket at position 1."},
		{"a{b", 2, "Invalid template 'a{b'. Missing closing bracket at position 2."},
		{"a{b{c}", 2, "Invalid template 'a{b{c}'. Missing closing bracket at position 2."},
		{"é}", 2, "Invalid template 'é}'. Missing opening bracket at position 2."},
		{"{a}}", 4, "Invalid template '{a}}'. Missing opening bracket at position 4."},
		{"x{}", 2, "Invalid template 'x{}'. The parameter name at position 2 is empty."},
		{"{1a}", 1, "Invalid template '{1a}'. The parameter name '1a' is invalid."},
		{"{a-b}", 1, "Invalid template '{a-b}'. The parameter name 'a-b' is invalid."},
		{"{a b}", 1, "Invalid template '{a b}'. The parameter name 'a b' is invalid."},
		{"{a..b}", 1, "Invalid template '{a..b}'. The parameter name 'a..b' is invalid."},
		{"{.a}", 1, "Invalid template '{.a}'. The parameter name '.a' is invalid."},
		{"{:N}", 1, "Invalid template '{:N}'. The parameter name ':N' is invalid."},
	}
	for _, tt := range tests {
		_, err := bindings.ParseTemplate(tt.template)
		var fault *bindings.TemplateError
		if !errors.As(err, &fault) || fault.Position != tt.position || err.Error() != tt.want {
			t.Errorf("ParseTemplate(%q) error = %v, want %q at %d", tt.template, err, tt.want, tt.position)
		}
	}
}

func TestTemplateParameters(t *testing.T) {
	t.Parallel()
	template, err := bindings.ParseTemplate("{a}{B.c}{b}{rand-guid}{DateTime:yyyy}{sys.utcnow}{{d}}{e_1}")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(template.Parameters(), []string{"a", "B", "e_1"}); diff != "" {
		t.Errorf("Parameters (-got +want):\n%s", diff)
	}
	if template.IsConstant() {
		t.Error("IsConstant = true, want false")
	}
	if err := template.Check([]string{"A", "b", "E_1"}); err != nil {
		t.Errorf("Check = %v, want nil", err)
	}
	want := "Unable to resolve binding parameter 'e_1'. Binding expressions must map to either a value provided by the trigger " +
		"or a property of the value the trigger is bound to, or must be a system binding expression (e.g. sys.randguid, sys.utcnow, etc.)."
	if err := template.Check([]string{"a", "b"}); err == nil || err.Error() != want {
		t.Errorf("Check = %v, want %q", err, want)
	}
}

func TestDateTimeFormats(t *testing.T) {
	t.Parallel()
	// Expected texts follow the .NET documentation, "Custom date and time
	// format strings", in the invariant culture.
	tests := []struct{ format, want string }{
		{"d/M/yy h:m:s t", "5/3/24 1:7:9 P"},
		{"dd-MM-yyyy hh:mm:ss tt", "05-03-2024 01:07:09 PM"},
		{"ddd, dddd MMM MMMM", "Tue, Tuesday Mar March"},
		{"yyyyy y", "02024 24"},
		{"HH:mm:ss.fff", "13:07:09.123"},
		{"ss.FFFFFFF", "09.1234567"},
		{"fffffff", "1234567"},
		{"HH:mmK", "13:07Z"},
		{"z zz zzz", "+0 +00 +00:00"},
		{"'at' HH\\h \"x\"", "at 13h x"},
		{"%d", "5"},
		{"o", "2024-03-05T13:07:09.1234567Z"},
		{"s", "2024-03-05T13:07:09"},
		{"u", "2024-03-05 13:07:09Z"},
		{"R", "Tue, 05 Mar 2024 13:07:09 GMT"},
		{"d", "03/05/2024"},
		{"T", "13:07:09"},
	}
	for _, tt := range tests {
		template, err := bindings.ParseTemplate("{datetime:" + tt.format + "}")
		if err != nil {
			t.Fatalf("ParseTemplate with %q: %v", tt.format, err)
		}
		got, err := template.Resolve(newData(nil))
		if err != nil || got != tt.want {
			t.Errorf("format %q = %q, %v, want %q", tt.format, got, err, tt.want)
		}
	}
	for _, bad := range []string{"'open", "x\\", "yy%", "ffffffff", "j"} {
		template, err := bindings.ParseTemplate("{datetime:" + bad + "}")
		if err != nil {
			t.Fatalf("ParseTemplate with %q: %v", bad, err)
		}
		if got, err := template.Resolve(newData(nil)); err == nil {
			t.Errorf("format %q = %q, want an error", bad, got)
		}
	}
}

func FuzzTemplate(f *testing.F) {
	for _, s := range []string{"a{b}c", "{{x}}", "{rand-guid:X}", "{datetime:yyyy-MM-ddTHH.fffK}", "{o.p}", "{", "}", "%x%", "{sys.utcnow:'a'}"} {
		f.Add(s, "value")
	}
	f.Fuzz(func(t *testing.T, s, value string) {
		template, err := bindings.ParseTemplate(s)
		if err != nil {
			return
		}
		values := map[string]any{}
		for _, name := range template.Parameters() {
			values[name] = value
		}
		got, err := template.Resolve(newData(values))
		if template.IsConstant() && (err != nil || len(got) > len(s)) {
			t.Errorf("constant template %q gave %q, %v", s, got, err)
		}
		_, _ = bindings.ResolveSettings(s, func(string) (string, bool) { return value, true })
	})
}
