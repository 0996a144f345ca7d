package cli

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestOpeners(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		system string
		env    map[string]string
		want   [][]string
	}{
		{"linux", nil, [][]string{{"wslview"}}},
		{"linux", map[string]string{"DISPLAY": ":0"}, [][]string{{"xdg-open"}, {"wslview"}}},
		{"linux", map[string]string{"WAYLAND_DISPLAY": "wayland-0", "BROWSER": "/opt/code/browser.sh"}, [][]string{{"/opt/code/browser.sh"}, {"xdg-open"}, {"wslview"}}},
		{"darwin", map[string]string{"BROWSER": "one"}, [][]string{{"one"}, {"open"}}},
		{"windows", nil, [][]string{{"rundll32", "url.dll,FileProtocolHandler"}}},
	} {
		if diff := cmp.Diff(row.want, openers(row.system, func(name string) string { return row.env[name] })); diff != "" {
			t.Errorf("%s %v (-want +got):\n%s", row.system, row.env, diff)
		}
	}
}
