package run

import "testing"

// Core Tools find a storage at the usual ports only, over HTTP.
func TestCoreToolsLine(t *testing.T) {
	t.Parallel()
	const line = "  func 5     uses this storage beside this host with: func run --no-azurite\n"
	for _, tt := range []struct{ blobs, queues, want string }{
		{"http://127.0.0.1:10000", "http://127.0.0.1:10001", line},
		{"https://127.0.0.1:10000", "https://127.0.0.1:10001", ""},
		{"http://127.0.0.1:10000", "http://127.0.0.1:20001", ""},
		{"http://127.0.0.1:20000", "http://127.0.0.1:10001", ""},
		{"http://127.0.0.1:10000", "", ""},
		{"", "", ""},
	} {
		if got := coreToolsLine(tt.blobs, tt.queues); got != tt.want {
			t.Errorf("blobs %q, queues %q: %q, want %q", tt.blobs, tt.queues, got, tt.want)
		}
	}
}
