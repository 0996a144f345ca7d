package main

import (
	"net"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/cmd/redeliver/cli"
	"github.com/redeliver/redeliver/host/hosttest"
	"github.com/redeliver/redeliver/host/ops"
	"github.com/redeliver/redeliver/host/ops/all"
	"github.com/redeliver/redeliver/host/ops/toytest"
	"github.com/redeliver/redeliver/host/web"
)

// commanded is what a command line of redeliver writes, with the services of a table.
func commanded(t *testing.T, table ops.Table, line ...string) string {
	t.Helper()
	var out strings.Builder
	root := newRoot(cli.Streams{Out: &out, Err: &out}, table)
	root.SetArgs(line)
	if err := root.ExecuteContext(t.Context()); err != nil {
		out.WriteString(err.Error())
	}
	return out.String()
}

// A service that is a package and a row has its commands, with completion and help, its place
// in ls, and its faults in fail: nothing of the command names it.
func TestToyService(t *testing.T) {
	t.Parallel()
	bells := toytest.New("door", "tower")
	table := append(all.Table(), bells.Row())
	h := hosttest.New(t, &hosttest.Options{Table: table})
	server := web.New(h.Host, &web.Options{Table: table, Faults: h.Faults()})
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	_, port, err := net.SplitHostPort(server.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct{ line, want string }{
		{"send bells door knock", "{\n  \"name\": \"door\",\n  \"count\": 1\n}\n"},
		{"ls bells", "BELL   RUNG\ndoor      1\ntower     0\n"},
		{"ls bells --json", "{\n  \"bells\": [\n    {\n      \"name\": \"door\",\n      \"count\": 1\n    },\n    {\n      \"name\": \"tower\",\n      \"count\": 0\n    }\n  ]\n}\n"},
		{"send bells dor knock", `there is no bell "dor"`},
		{"send bells", "redeliver send bells: an argument is missing"},
		{"purge bells door --yes", "{\n  \"path\": \"door\",\n  \"removed\": 1\n}\n"},
		{"fail operation Ring --service bells --entity tower --yes", "Ring bells tower: fails before its effect, 1 time\n"},
		{"send bells tower noon", "service unavailable"},
		{"__complete send bells", "bells\tRing a bell\n:4\n"},
		{"__complete ls be", "bells\n:4\n"},
		{"__complete fail operation --service be", "queue\nservicebus\neventgrid\neventhubs\ncosmos\nblob\ntable\nhandler\nbells\n:4\n"},
		{"__complete fail operation --service bells Ri", "Ring\nSilence\n:4\n"},
		{"__complete purge bells --port PORT ", "door\ntower\n:4\n"},
		{"__complete fail operation --port PORT --service bells --entity ", "door\ntower\n:4\n"},
	} {
		words := strings.Split(strings.ReplaceAll(row.line, "PORT", port), " ")
		if words[0] != "__complete" {
			words = append(words, "--port", port)
		}
		if got := commanded(t, table, words...); !strings.HasPrefix(got, row.want) {
			t.Errorf("%s (-want +got):\n%s", row.line, cmp.Diff(row.want, got))
		}
	}
	if got := commanded(t, table, "delete", "bells", "tower", "--yes", "--port", port); got != "" {
		t.Errorf("delete, which is answered by a status alone, says %q", got)
	}
	if got := commanded(t, table, "help", "send"); !strings.Contains(got, "send queue|servicebus|eventgrid|eventhub|cosmos|table|event|bells NAME") || !strings.Contains(got, "bells       Ring a bell") {
		t.Errorf("help send: %s", got)
	}
	if got := commanded(t, table, "help", "ls"); !strings.Contains(got, "cosmos, tables, orchestrations, entities, bells, outputs") {
		t.Errorf("help ls: %s", got)
	}
}
