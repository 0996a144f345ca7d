package verbs

import (
	"github.com/spf13/cobra"

	"github.com/redeliver/redeliver/cmd/redeliver/cli"
	"github.com/redeliver/redeliver/cmd/redeliver/remote"
	"github.com/redeliver/redeliver/host/ops/run"
)

func stop(std cli.Streams) *cobra.Command {
	r := &remote.Remote{Std: std}
	return r.Changes(&cobra.Command{
		Use:   "stop",
		Short: "End the running host, as Ctrl+C does",
		Long: `Stop ends the running host as Ctrl+C does: running attempts may end, for at most
10 s. It returns when the app and its data are free for the next start; with
--port alone, as soon as the host has been told.`,
		Args: cli.Arguments(0, 0),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := r.Find()
			if err != nil {
				return err
			}
			var info remote.RunInfo
			if c.Dir != "" {
				// Read before the host is told: at its end it removes the file.
				if info, err = remote.ReadRun(c.Dir); err != nil {
					return err
				}
			}
			if _, err := remote.Call(cmd.Context(), c, run.Stop{}); err != nil {
				return err
			}
			if c.Dir != "" {
				if err := remote.AwaitRelease(cmd.Context(), c.Dir, info); err != nil {
					return err
				}
			}
			return r.Say(map[string]string{"stopped": c.Base}, "")
		},
	})
}
