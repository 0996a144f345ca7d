package cli

import (
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Reference describes a command and those below it, for programs that write manuals.
type Reference struct {
	Path     string      `json:"path"` // as it is typed: "redeliver send queue"
	Aliases  []string    `json:"aliases,omitempty"`
	Usage    string      `json:"usage"`
	Short    string      `json:"short"`
	Long     string      `json:"long,omitempty"`
	Example  string      `json:"example,omitempty"`
	Flags    []Flag      `json:"flags,omitempty"`
	Commands []Reference `json:"commands,omitempty"`
}

// Flag describes a flag of a command.
type Flag struct {
	Name      string `json:"name"`
	Shorthand string `json:"shorthand,omitempty"`
	Type      string `json:"type"`
	Default   string `json:"default,omitempty"`
	Usage     string `json:"usage"`
}

// Describe is the reference of a command. What is hidden is left out.
func Describe(cmd *cobra.Command) Reference {
	cmd.InitDefaultHelpFlag()
	ref := Reference{Path: cmd.CommandPath(), Aliases: cmd.Aliases, Usage: cmd.UseLine(), Short: cmd.Short, Long: cmd.Long, Example: cmd.Example}
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		kind, usage := pflag.UnquoteUsage(f)
		ref.Flags = append(ref.Flags, Flag{f.Name, f.Shorthand, kind, f.DefValue, usage})
	})
	for _, below := range slices.Clone(cmd.Commands()) {
		if below.IsAvailableCommand() {
			ref.Commands = append(ref.Commands, Describe(below))
		}
	}
	return ref
}
