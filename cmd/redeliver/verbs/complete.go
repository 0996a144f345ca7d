package verbs

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/redeliver/redeliver/bindings/queue"
	"github.com/redeliver/redeliver/cmd/redeliver/remote"
	"github.com/redeliver/redeliver/host/faults"
	"github.com/redeliver/redeliver/host/ops"
	"github.com/redeliver/redeliver/host/ops/queues"
	"github.com/redeliver/redeliver/host/ops/run"
	"github.com/redeliver/redeliver/host/ops/servicebus"
)

// Known completes a value with names from the running host that the command talks to.
func Known(names func(cmd *cobra.Command, inv *run.Inventory) []string) remote.Completion {
	return func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
		t := &remote.Target{}
		t.Dir, _ = cmd.Flags().GetString("dir") // without the flag the folder says it
		t.Port, _ = cmd.Flags().GetInt("port")
		inv := t.Glance(cmd.Context())
		return names(cmd, &inv), remote.NoMore
	}
}

// The names of an inventory that commands are about.

// NamesOf are what the list of a service names.
func NamesOf(s *ops.Service) func(inv *run.Inventory) []string {
	return func(inv *run.Inventory) []string {
		has, err := members(inv)
		if err != nil || len(s.Listings) == 0 {
			return nil
		}
		return s.Listings[0].NamesIn(has[s.Listings[0].Name])
	}
}

// FunctionNames are those of functions.
func FunctionNames(inv *run.Inventory) (names []string) {
	for _, f := range inv.Functions {
		names = append(names, f.Name)
	}
	return names
}

func poisonQueues(inv *run.Inventory) []string {
	return slices.DeleteFunc(NamesOf(queues.Service)(inv), func(name string) bool {
		_, poison := queue.PoisonOrigin(name)
		return !poison
	})
}

// busNames are paths of entities of Service Bus.
func busNames(paths func(e *servicebus.BusEntity) []string) func(inv *run.Inventory) []string {
	return func(inv *run.Inventory) (names []string) {
		for i := range inv.ServiceBus {
			names = append(names, paths(&inv.ServiceBus[i])...)
		}
		return names
	}
}

// Sendable are the queues and topics of Service Bus.
func Sendable(inv *run.Inventory) []string { return busNames(sendable)(inv) }

func topicNames(inv *run.Inventory) (names []string) {
	for _, topic := range inv.EventGrid {
		names = append(names, topic.Name)
	}
	return names
}

func topicAndSubscriptionNames(inv *run.Inventory) (names []string) {
	for _, topic := range inv.EventGrid {
		names = append(append(names, topic.Name), topic.SubscriptionNames()...)
	}
	return names
}

// deadLettering are the event subscriptions that have a place for dead letters.
func deadLettering(inv *run.Inventory) (names []string) {
	for _, topic := range inv.EventGrid {
		for i := range topic.Subscriptions {
			if s := &topic.Subscriptions[i]; s.DeadLetterContainer != "" {
				names = append(names, topic.Name+"/"+s.Name)
			}
		}
	}
	return names
}

// outputNames are those of recorded outputs.
func outputNames(inv *run.Inventory) (names []string) {
	for _, o := range inv.Outputs {
		names = append(names, o.Function+"/"+o.Binding)
	}
	return names
}

// FaultEntities are what a fault of a service may be for; without a service, of all.
func FaultEntities(services []*ops.Service, of string, inv *run.Inventory) (names []string) {
	for _, s := range services {
		if s.Faults.Name != "" && (of == "" || of == s.Faults.Name) {
			names = append(names, NamesOf(s)(inv)...)
		}
	}
	if of == "" || of == faults.Handler {
		names = append(names, FunctionNames(inv)...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}
