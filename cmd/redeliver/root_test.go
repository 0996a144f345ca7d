package main

import (
	"runtime"
	"testing"

	"github.com/redeliver/redeliver/cmd/redeliver/cli"
)

// Hints are command lines to paste.
func TestCommandFor(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("quotes are those of a shell of Unix")
	}
	for dir, want := range map[string]string{
		".":          "redeliver start",
		"shop":       "redeliver start shop",
		"/srv/a_b-1": "redeliver start /srv/a_b-1",
		"läden":      "redeliver start läden",
		"my app":     "redeliver start 'my app'",
		"bob's":      `redeliver start 'bob'\''s'`,
		"a;b":        "redeliver start 'a;b'",
		"$HOME":      "redeliver start '$HOME'",
	} {
		if got := cli.CommandFor("start", dir); got != want {
			t.Errorf("commandFor(%q) = %s, want %s", dir, got, want)
		}
	}
}
