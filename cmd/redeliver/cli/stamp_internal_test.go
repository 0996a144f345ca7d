package cli

import "testing"

func TestStampedVersion(t *testing.T) { // not parallel: sets the stamp
	defer func(v, c, d string) { version, commit, date = v, c, d }(version, commit, date)
	for _, tt := range []struct{ version, commit, date, long, line string }{
		{"0.4.0", "a1b2c3d", "2026-11-20", "0.4.0", "0.4.0 (a1b2c3d, 2026-11-20, go, os)"},
		{"v0.4.0", "a1b2c3d", "2026-11-20", "0.4.0", "0.4.0 (a1b2c3d, 2026-11-20, go, os)"},
		{"0.4.0-rc.1", "a1b2c3d", "", "0.4.0-rc.1", "0.4.0-rc.1 (a1b2c3d, go, os)"},
		{"v0.4.0-dirty", "a1b2c3d-dirty", "2026-11-20", "devel a1b2c3d-dirty", "devel (a1b2c3d-dirty, 2026-11-20, go, os)"},
		{"", "a1b2c3d", "2026-11-20", "devel a1b2c3d", "devel (a1b2c3d, 2026-11-20, go, os)"},
	} {
		version, commit, date = tt.version, tt.commit, tt.date
		if got := LongVersion(); got != tt.long {
			t.Errorf("version %q, commit %q: long version %q, want %q", tt.version, tt.commit, got, tt.long)
		}
		b := ThisBuild()
		b.Go, b.System = "go", "os"
		if got := b.String(); got != tt.line {
			t.Errorf("version %q, commit %q: %q, want %q", tt.version, tt.commit, got, tt.line)
		}
	}
}

// The versions that the go command writes into programs.
func TestReleases(t *testing.T) {
	t.Parallel()
	for v, want := range map[string]bool{
		"v0.4.0": true, "0.4.0": true, "v1.0.0-rc.1": true,
		"": false, "(devel)": false, "v0.0.0-20261120034925-a1b2c3d4e5f6": false, "v0.4.1-0.20261120034925-a1b2c3d4e5f6": false, "v0.4.0+dirty": false, "v0.4.0-dirty": false,
	} {
		if got := isRelease(v); got != want {
			t.Errorf("isRelease(%q) = %v, want %v", v, got, want)
		}
	}
}
