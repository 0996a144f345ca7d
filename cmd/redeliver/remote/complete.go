package remote

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/redeliver/redeliver/host/ops/run"
)

// Completion is how cobra asks for the words that may come next.
type Completion = func(cmd *cobra.Command, args []string, start string) ([]string, cobra.ShellCompDirective)

// completionPatience is how long the shell's Tab key waits for a host.
const completionPatience = time.Second

// CompleteFirst completes the first argument with names from the running host, and
// further arguments by then.
func CompleteFirst(t *Target, then cobra.ShellCompDirective, names func(inv *run.Inventory) []string) Completion {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, then
		}
		inv := t.Glance(cmd.Context())
		return names(&inv), cobra.ShellCompDirectiveNoFileComp
	}
}

// NoMore and OrFile are what follows a first argument.
const (
	NoMore = cobra.ShellCompDirectiveNoFileComp
	OrFile = cobra.ShellCompDirectiveDefault
)

// Glance is the inventory of the running host, empty when there is no answer.
func (t *Target) Glance(ctx context.Context) (inv run.Inventory) {
	ctx, cancel := context.WithTimeout(ctx, completionPatience)
	defer cancel()
	if c, err := t.Find(); err == nil {
		inv, _ = Call(ctx, c, run.GetInventory{})
	}
	return inv
}
