package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/redeliver/redeliver/cmd/redeliver/cli"
	"github.com/redeliver/redeliver/schemas"
)

// schemaNames are the files that have a schema, by the word for them.
func schemaNames() (words []string, names map[string]schemas.Name) {
	words = []string{"scenario", "host", "function", "settings", "worker", "journal"}
	return words, map[string]schemas.Name{
		"scenario": schemas.Scenario, "host": schemas.HostJSON, "function": schemas.FunctionJSON,
		"settings": schemas.LocalSettings, "worker": schemas.WorkerConfig, "journal": schemas.Journal,
	}
}

func newSchema(std cli.Streams) *cobra.Command {
	words, names := schemaNames()
	cmd := &cobra.Command{
		Use:   "schema FILE",
		Short: "Print the schema of a file, for editors and other tools",
		Long: `Schema prints the JSON Schema of scenario files, host.json, function.json,
local.settings.json (settings), worker.config.json (worker), or of a line of
the journal: scenario, host, function, settings, worker or journal.
Editors complete and check by it what "redeliver check" and "redeliver test"
check.`,
		Example: `  redeliver schema scenario > scenario.schema.json
  # yaml-language-server: $schema=./scenario.schema.json`,
		Args:      cli.Arguments(1, 1),
		ValidArgs: words,
		RunE: func(_ *cobra.Command, args []string) error {
			name, ok := names[args[0]]
			if !ok {
				return cli.Mistaken(fmt.Errorf("%q has no schema: want %s", args[0], cli.Choice(words)), args[0], words)
			}
			cli.NewConsole(std, true).Print(string(schemas.Schema(name)))
			return nil
		},
	}
	cmd.Flags().Bool("json", false, "write the answer as JSON, as it always is")
	return cmd
}
