package web_test

import (
	"testing"

	"github.com/redeliver/redeliver/host/web"
)

// Every answer below /admin says that it is a host's, refusals too.
func TestVersionHeader(t *testing.T) {
	t.Parallel()
	d := open(t, app(plainHostJSON), nil, nil)
	for _, test := range []struct {
		status     int
		path, host string
	}{
		{200, prefix + "/status", "localhost"},
		{404, prefix + "/queues/none/messages", "localhost"},
		{404, prefix + "/nothing", "localhost"},
		{403, prefix + "/status", "example.com"},
		{200, "/admin/host/status", "localhost"},
	} {
		a := d.want(test.status, "GET", test.path, "", withHeader("Host", test.host))
		if got := a.Header.Get(web.VersionHeader); got != "v1.2.3" {
			t.Errorf("%s answered %d with %s %q", test.path, test.status, web.VersionHeader, got)
		}
	}
}
