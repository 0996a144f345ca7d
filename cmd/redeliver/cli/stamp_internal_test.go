package cli

import "testing"

func TestStampedVersion(t *testing.T) { // not parallel: sets the stamp
	defer func(was string) { stamp = was }(stamp)
	for _, tt := range []struct{ stamp, short, long string }{
		{"v0.4.0", "v0.4.0", "v0.4.0"},
		{"v0.4.0-rc.1", "v0.4.0-rc.1", "v0.4.0-rc.1"},
		{"v0.4.0-12-g52d9c6c", "devel", "devel v0.4.0-12-g52d9c6c"},
		{"v0.4.0-dirty", "devel", "devel v0.4.0-dirty"},
		{"52d9c6c", "devel", "devel 52d9c6c"},
	} {
		stamp = tt.stamp
		if got := Version(); got != tt.short {
			t.Errorf("stamp %q: version %q, want %q", tt.stamp, got, tt.short)
		}
		if got := LongVersion(); got != tt.long {
			t.Errorf("stamp %q: long version %q, want %q", tt.stamp, got, tt.long)
		}
	}
}
