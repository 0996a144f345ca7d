package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLay(t *testing.T) {
	t.Parallel()
	line := func(text string) []cell {
		return []cell{{text: "12:00:00.000", sgr: dim}, {text: "Orders", width: 8}, {text: "d1", width: 5}, {text: "failed", width: 10}, {text: "n=1", width: 6}, {text: text}}
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
		"too narrow to try": {30, "a payment failed", []string{"12:00:00.000  Orders    d1     failed      n=1     a payment failed"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := (&console{}).lay(tt.limit, 1, line(tt.text)...)
			if diff := cmp.Diff(tt.want, strings.Split(got, "\n")); diff != "" {
				t.Errorf("lay (-want +got):\n%s", diff)
			}
			for _, l := range strings.Split((&console{colour: true}).lay(tt.limit, 1, line(tt.text)...), "\n") {
				if n := visible(l); tt.limit >= minColumns && n > tt.limit && !strings.Contains(tt.text, "xxx") {
					t.Errorf("%d columns, want at most %d: %q", n, tt.limit, l)
				}
			}
		})
	}
}
