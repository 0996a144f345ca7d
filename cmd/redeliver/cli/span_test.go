package cli

import "testing"

func TestSpan(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{"30s": "PT30S", "1h30m": "PT1H30M", "PT1M": "PT1M", "P14D": "P14D", "250ms": "PT0.25S"} {
		var s IsoSpan
		if err := s.Set(in); err != nil || s.String() != want {
			t.Errorf("%q is %q, %v, want %q", in, s.String(), err, want)
		}
	}
	for _, in := range []string{"", "0s", "-1s", "soon", "P", "PT0S", "30"} {
		var s Span
		if err := s.Set(in); err == nil || s != 0 {
			t.Errorf("%q is taken as %v", in, s)
		}
	}
	if s := Span(0); s.String() != "" {
		t.Errorf("no duration is %q", s.String())
	}
}
