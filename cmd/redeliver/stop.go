package main

import (
	"github.com/spf13/cobra"

	"github.com/redeliver/redeliver/host/ops/run"
)

func newStop(std streams) *cobra.Command {
	r := &remote{std: std}
	return r.changes(&cobra.Command{
		Use:   "stop",
		Short: "End the running host, as Ctrl+C does",
		Long: `Stop ends the running host as Ctrl+C does: running attempts may end, for at most
10 s. It returns when the app and its data are free for the next start; with
--port alone, as soon as the host has been told.`,
		Args: arguments(0, 0),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := r.find()
			if err != nil {
				return err
			}
			var info runInfo
			if c.dir != "" {
				// Read before the host is told: at its end it removes the file.
				if info, err = readRun(c.dir); err != nil {
					return err
				}
			}
			if _, err := call(cmd.Context(), c, run.Stop{}); err != nil {
				return err
			}
			if c.dir != "" {
				if err := awaitRelease(cmd.Context(), c.dir, info); err != nil {
					return err
				}
			}
			return r.say(map[string]string{"stopped": c.base}, "")
		},
	})
}
