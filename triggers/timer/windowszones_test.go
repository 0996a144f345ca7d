package timer

import (
	"strings"
	"testing"
)

// White box: every row of the table must be a zone that can be loaded.
func TestEveryWindowsZoneLoads(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, z := range windowsZones {
		if _, ok := zone(z.windows); !ok {
			t.Errorf("%s: %s cannot be loaded", z.windows, z.iana)
		}
		if key := strings.ToLower(z.windows); seen[key] {
			t.Errorf("%s is listed twice", z.windows)
		} else {
			seen[key] = true
		}
	}
}
