package main

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/redeliver/redeliver/cmd/redeliver/cli"
	"github.com/redeliver/redeliver/cmd/redeliver/remote"
)

// installedVariable is where the launcher of a package manager says that it is one.
const installedVariable = "REDELIVER_INSTALLED"

func newVersion(std cli.Streams) *cobra.Command {
	r := &remote.Remote{Std: std}
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version, its commit and the commit's day",
		Args:  cli.Arguments(0, 0),
		RunE: func(cmd *cobra.Command, args []string) error {
			build := cli.ThisBuild()
			build.Installed = os.Getenv(installedVariable)
			return r.Say(build, versionLine())
		},
	}
	cmd.Flags().BoolVar(&r.AsJSON, "json", false, "write the answer as JSON")
	return cmd
}

// versionLine is the output of "version" and "--version".
func versionLine() string { return cli.Textf("redeliver %s\n", cli.ThisBuild().String()) }
