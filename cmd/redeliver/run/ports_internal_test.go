package run

import (
	"testing"

	"github.com/spf13/cobra"
)

// Tables are at their usual port beside blobs and queues at theirs, and elsewhere where
// these are elsewhere: a second host finds no port taken.
func TestFollowTables(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		args []string
		want string
	}{
		{nil, "10002"},
		{[]string{"--blob-port", "0"}, "0"},
		{[]string{"--queue-port", "20001"}, "0"},
		{[]string{"--blob-port", "off"}, "0"},
		{[]string{"--blob-port", "off", "--queue-port", "off"}, "off"},
		{[]string{"--blob-port", "off", "--queue-port", "off", "--table-port", "7"}, "7"},
		{[]string{"--blob-port", "0", "--table-port", "10002"}, "10002"},
		{[]string{"--table-port", "off"}, "off"},
	} {
		f := &startFlags{}
		cmd := &cobra.Command{}
		addStorage(cmd, f)
		if err := cmd.ParseFlags(tt.args); err != nil {
			t.Fatal(err)
		}
		f.followTables(cmd)
		if got := f.tablePort.String(); got != tt.want {
			t.Errorf("%q: tables at %s, want %s", tt.args, got, tt.want)
		}
	}
}
