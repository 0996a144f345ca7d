package remote

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/redeliver/redeliver/cmd/redeliver/cli"
	"github.com/redeliver/redeliver/host"
	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/ops/run"
)

// NewStatus is the command that says whether a host is ready.
func NewStatus(std cli.Streams) *cobra.Command {
	r := &Remote{Std: std}
	return r.Shows(&cobra.Command{
		Use:   "status",
		Short: "Say whether the running host is ready",
		Long: `Status says what runs, in which state, and why it is not ready. Its exit code is
0 when the host is ready, else 1: a health check for containers and scripts.`,
		Example: `  redeliver status
  redeliver status --json`,
		Args: cli.Arguments(0, 0),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := r.Reach(cmd.Context())
			if err != nil {
				return err
			}
			var raw json.RawMessage
			if err := c.Read(cmd.Context(), run.GetStatus{}, &raw); err != nil {
				return err
			}
			var st run.Status
			if err := json.Unmarshal(raw, &st); err != nil {
				return err
			}
			if err := r.Say(raw, statusText(&st)); err != nil {
				return err
			}
			if !ready(&st) {
				return cli.ExitCode(cli.ExitFailure)
			}
			return nil
		},
	})
}

// ready reports whether every app of the run is.
func ready(st *run.Status) bool {
	return st.Ready && !slices.ContainsFunc(st.Apps, func(a app.Standing) bool { return a.State != string(host.Running) })
}

func statusText(st *run.Status) string {
	var t strings.Builder
	apps := st.Apps
	if len(apps) == 0 {
		apps = []app.Standing{{Folder: st.App, State: string(st.State), Generation: st.Generation, Errors: st.Errors}}
	}
	for _, a := range apps {
		cli.Writef(&t, "%s  %s", a.State, a.Folder)
		if a.Generation > 0 {
			cli.Writef(&t, "  generation %d", a.Generation)
		}
		t.WriteByte('\n')
		for _, e := range a.Errors {
			cli.Writef(&t, "  %s\n", e)
		}
	}
	cli.Writef(&t, "  version  %s\n  process  %d\n  clock    %s\n  journal  %s\n", st.Version, st.PID, st.Clock.Now.Format(time.RFC3339), cli.Plural(int(st.Journal), "record"))
	return t.String()
}
