package main

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/redeliver/redeliver/cmd/redeliver/cli"
	"github.com/redeliver/redeliver/cmd/redeliver/remote"
)

func newVersion(std cli.Streams) *cobra.Command {
	r := &remote.Remote{Std: std}
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cli.Arguments(0, 0),
		RunE: func(cmd *cobra.Command, args []string) error {
			return r.Say(map[string]string{"version": cli.LongVersion(), "go": runtime.Version(), "system": runtime.GOOS + "/" + runtime.GOARCH}, versionLine())
		},
	}
	cmd.Flags().BoolVar(&r.AsJSON, "json", false, "write the answer as JSON")
	return cmd
}

// versionLine is the output of "version" and "--version".
func versionLine() string {
	return fmt.Sprintf("redeliver %s (%s, %s/%s)\n", cli.LongVersion(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
