package listen_test

import (
	"testing"

	"github.com/redeliver/redeliver/host/listen"
)

func TestLoopback(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]bool{
		"localhost": true, "LocalHost.": true, "shop.localhost": true, "127.0.0.1": true, "127.1.2.3": true, "::1": true, "::ffff:127.0.0.1": true,
		"": false, "0.0.0.0": false, "::": false, "192.0.2.7": false, "localhost.example": false, "nolocalhost": false, "[::1]": false,
	} {
		if got := listen.Loopback(host); got != want {
			t.Errorf("Loopback(%q) = %v, want %v", host, got, want)
		}
	}
}
