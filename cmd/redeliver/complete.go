package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/redeliver/redeliver/bindings/queue"
	"github.com/redeliver/redeliver/host/ops/run"
)

// completion is how cobra asks for the words that may come next.
type completion = func(cmd *cobra.Command, args []string, start string) ([]string, cobra.ShellCompDirective)

// completionPatience is how long the shell's Tab key waits for a host.
const completionPatience = time.Second

// completeFirst completes the first argument with names from the running host, and
// further arguments by then.
func completeFirst(t *target, then cobra.ShellCompDirective, names func(inv *run.Inventory) []string) completion {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, then
		}
		inv := t.glance(cmd.Context())
		return names(&inv), cobra.ShellCompDirectiveNoFileComp
	}
}

// noMore and orFile are what follows a first argument.
const (
	noMore = cobra.ShellCompDirectiveNoFileComp
	orFile = cobra.ShellCompDirectiveDefault
)

// completeQueues completes the first argument with the queues of the running
// host that keep admits.
func completeQueues(t *target, keep func(name string) bool) completion {
	return completeFirst(t, noMore, func(inv *run.Inventory) (names []string) {
		for _, q := range inv.Queues {
			if keep(q.Name) {
				names = append(names, q.Name)
			}
		}
		return names
	})
}

func anyName(string) bool { return true }

func poisonName(name string) bool {
	_, ok := queue.PoisonOrigin(name)
	return ok
}

// completeBlob completes the first argument with the containers of the running
// host, and the second with files.
func completeBlob(t *target) completion {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveDefault
		}
		var names []string
		for _, c := range t.glance(cmd.Context()).Containers {
			names = append(names, c.Name+"/")
		}
		return names, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
}

// glance is the inventory of the running host, empty when there is no answer.
func (t *target) glance(ctx context.Context) (inv run.Inventory) {
	ctx, cancel := context.WithTimeout(ctx, completionPatience)
	defer cancel()
	if c, err := t.find(); err == nil {
		inv, _ = call(ctx, c, run.GetInventory{})
	}
	return inv
}
