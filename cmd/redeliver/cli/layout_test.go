package cli

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLay(t *testing.T) {
	t.Parallel()
	line := func(text string) []Cell {
		return []Cell{{Text: "12:00:00.000", Sgr: Dim}, {Text: "Orders", Width: 8}, {Text: "d1", Width: 5}, {Text: "failed", Width: 10}, {Text: "n=1", Width: 6}, {Text: text}}
	}
	for name, tt := range map[string]struct {
		limit int
		text  string
		want  []string
	}{
		"fits":                  {80, "boom", []string{"12:00:00.000  Orders    d1     failed      n=1     boom"}},
		"no padding at the end": {80, "", []string{"12:00:00.000  Orders    d1     failed      n=1"}},
		"no terminal": {0, strings.Repeat("boom ", 20) + "end",
			[]string{"12:00:00.000  Orders    d1     failed      n=1     " + strings.Repeat("boom ", 20) + "end"}},
		"a cell goes below": {60, "a payment failed",
			[]string{"12:00:00.000  Orders    d1     failed      n=1", "              a payment failed"}},
		"and is broken between words": {60, strings.Repeat("payment ", 9) + "failed", []string{
			"12:00:00.000  Orders    d1     failed      n=1",
			"              payment payment payment payment payment",
			"              payment payment payment payment failed",
		}},
		"a long word stays whole": {60, strings.Repeat("x", 80),
			[]string{"12:00:00.000  Orders    d1     failed      n=1", "              " + strings.Repeat("x", 80)}},
		"its own lines": {80, "one\ntwo",
			[]string{"12:00:00.000  Orders    d1     failed      n=1     one", "              two"}},
		"too narrow for columns": {30, "a payment failed",
			[]string{"12:00:00.000  Orders  d1", "    failed  n=1  a payment", "    failed"}},
		"too narrow, lines of its own": {30, "one\ntwo",
			[]string{"12:00:00.000  Orders  d1", "    failed  n=1  one", "    two"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := (&Console{}).Lay(tt.limit, 1, line(tt.text)...)
			if diff := cmp.Diff(tt.want, strings.Split(got, "\n")); diff != "" {
				t.Errorf("lay (-want +got):\n%s", diff)
			}
			for _, l := range strings.Split((&Console{Colour: true}).Lay(tt.limit, 1, line(tt.text)...), "\n") {
				if n := Visible(l); tt.limit > 0 && n > tt.limit && !strings.Contains(tt.text, "xxx") {
					t.Errorf("%d columns, want at most %d: %q", n, tt.limit, l)
				}
			}
		})
	}
}

func TestFit(t *testing.T) {
	t.Parallel()
	const text = "Lints (1)\n\n    the platform does not support this\n"
	for limit, want := range map[int]string{
		0:  text,
		80: text,
		22: "Lints (1)\n\n    the platform does\n    not support this\n",
		6:  "Lints\n(1)\n\n    the\n   platform\n   does\n   not\n   support\n   this\n",
	} {
		if diff := cmp.Diff(want, Fit(text, limit)); diff != "" {
			t.Errorf("fit to %d columns (-want +got):\n%s", limit, diff)
		}
	}
}
