package bindings

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"
	_ "time/tzdata"

	"github.com/google/go-cmp/cmp"
)

// What the platform's host 4.1037 made of a member of a queue message in the path of a
// blob output, for each text of testdata/bindingdata.tsv. The host ran on .NET 10, whose
// doubles have no exponent below 1E+17.
func TestBindingDataOfThePlatform(t *testing.T) {
	t.Parallel()
	table, err := os.ReadFile("testdata/bindingdata.tsv")
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(strings.TrimSpace(string(table)), "\n")[1:] {
		cells := strings.Split(line, "\t")
		if len(cells) != 4 {
			t.Fatalf("line %d: %d cells", i+2, len(cells))
		}
		var message string
		var want *string
		zone, err := time.LoadLocation(cells[0])
		for cell, to := range map[string]any{cells[2]: &message, cells[3]: &want} {
			if err == nil {
				err = json.Unmarshal([]byte(cell), to)
			}
		}
		if err != nil {
			t.Fatalf("line %d: %v", i+2, err)
		}
		template, err := ParseTemplate(cells[1])
		if err != nil {
			t.Fatal(err)
		}
		values := map[string]any{}
		applyJSON(values, []byte(message), zone)
		text, err := template.Resolve(&BindingData{Values: values, zone: zone})
		got := &text
		if err != nil {
			got = nil
		}
		if diff := cmp.Diff(got, want); diff != "" {
			t.Errorf("line %d: %s of %s in %s (-got +want):\n%s", i+2, cells[1], cells[2], cells[0], diff)
		}
	}
}
