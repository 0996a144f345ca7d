package verbs

import (
	"github.com/spf13/cobra"

	"github.com/redeliver/redeliver/cmd/redeliver/remote"
	"github.com/redeliver/redeliver/host/ops"
	"github.com/redeliver/redeliver/host/ops/run"
)

// Stop ends the host.
var Stop = Verb[run.Stop, ops.None]{ // read only
	Use: "stop", Short: "End the running host, as Ctrl+C does",
	Long: `Stop ends the running host as Ctrl+C does: running attempts may end, for at most
10 s. It returns when the app and its data are free for the next start; with
--port alone, as soon as the host has been told.`,
	Instead: func(cmd *cobra.Command, r *remote.Remote, in *run.Stop) (bool, error) {
		c, err := r.Find()
		if err != nil {
			return true, err
		}
		var info remote.RunInfo
		if c.Dir != "" {
			// Read before the host is told: at its end it removes the file.
			if info, err = remote.ReadRun(c.Dir); err != nil {
				return true, err
			}
		}
		if _, err := remote.Call(cmd.Context(), c, *in); err != nil {
			return true, err
		}
		if c.Dir != "" {
			if err := remote.AwaitRelease(cmd.Context(), c.Dir, info); err != nil {
				return true, err
			}
		}
		return true, r.Say(map[string]string{"stopped": c.Base}, "")
	},
}
