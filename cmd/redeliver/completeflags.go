package main

import (
	"maps"
	"os"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/redeliver/redeliver/cmd/redeliver/remote"
	"github.com/redeliver/redeliver/cmd/redeliver/scaffold"
	"github.com/redeliver/redeliver/cmd/redeliver/show"
	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/faults"
	"github.com/redeliver/redeliver/host/kinds/served"
	"github.com/redeliver/redeliver/host/ops/all"
	"github.com/redeliver/redeliver/host/ops/run"
	"github.com/redeliver/redeliver/host/ops/servicebus"
)

// closed completes a value with one of a closed set.
func closed(list ...string) remote.Completion { return cobra.FixedCompletions(list, remote.NoMore) }

// known completes a value with names from the running host that the command talks to.
func known(names func(cmd *cobra.Command, inv *run.Inventory) []string) remote.Completion {
	return func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
		inv := targetOf(cmd).Glance(cmd.Context())
		return names(cmd, &inv), remote.NoMore
	}
}

// targetOf is what the flags of a command say of the host.
func targetOf(cmd *cobra.Command) *remote.Target {
	t := &remote.Target{}
	t.Dir, _ = cmd.Flags().GetString("dir") // without the flag the folder says it
	t.Port, _ = cmd.Flags().GetInt("port")
	return t
}

// flagValues complete the values of flags, by the flag's name, or by command and flag
// where one name has several meanings. Files are nil: the shell knows them.
func flagValues() map[string]remote.Completion {
	folder := func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return nil, cobra.ShellCompDirectiveFilterDirs
	}
	port := closed("0", "off")
	functions := known(func(_ *cobra.Command, inv *run.Inventory) []string { return functionNames(inv) })
	entities := known(func(_ *cobra.Command, inv *run.Inventory) []string { return busNames(inv, sendable) })
	switches := func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return suffixed(app.SwitchNames(), "="), remote.NoMore | cobra.ShellCompDirectiveNoSpace
	}
	return map[string]remote.Completion{
		"output": closed("text", "json"), "redeliver start --output": closed("pretty", "plain", "json"),
		"clock":          closed(show.ClockModes...),
		"ports":          closed("any"),
		"user-log-level": closed(app.LogLevelWords()...),
		"cors":           closed("*"),
		"lang":           closed(slices.Sorted(maps.Keys(scaffold.NewLanguages))...),
		"trigger":        closed(scaffold.NewKindNames()...),
		"service":        closed(all.Table().Faults().Names()...),
		"schema":         closed("eventgrid", "cloudevents"),
		"status":         closed("Active", "Disabled", "SendDisabled", "ReceiveDisabled"), "redeliver fail operation --status": free,
		"worker": func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return []string{"shim", "official"}, remote.OrFile
		},
		"redeliver test --seed":      closed("random"),
		"redeliver send queue --ttl": closed("never"),
		"set":                        switches,
		"dir":                        folder, "app": folder, "data": folder, "replace": folder,
		"function": functions, "endpoint": functions,
		"redeliver start --functions":  completeOwnFunctions,
		"redeliver redrive queue --to": known(func(_ *cobra.Command, inv *run.Inventory) []string { return queueNames(inv) }),
		"entity":                       known(func(cmd *cobra.Command, inv *run.Inventory) []string { return faultEntities(cmd, inv) }),
		"forward-to":                   entities, "forward-dead-letters-to": entities,
		"dead-letter-container": known(func(_ *cobra.Command, inv *run.Inventory) []string { return containerNames(inv) }),
		"blob-port":             port, "queue-port": port, "servicebus-port": port, "servicebus-tls-port": port, "servicebus-admin-port": port, "eventgrid-port": port,
		"junit": nil, "tls-cert": nil, "tls-key": nil, "servicebus-config": nil, "eventhubs-config": nil,
	}
}

// free completes nothing: a number, a span, or a text of the user's own.
func free(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, remote.NoMore
}

// completeFlags has the shell complete the values of all flags.
func completeFlags(root *cobra.Command) {
	values := flagValues()
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		cmd.Flags().VisitAll(func(flag *pflag.Flag) {
			complete, ok := values[cmd.CommandPath()+" --"+flag.Name]
			if !ok {
				complete, ok = values[flag.Name]
			}
			if !ok {
				complete = free
			}
			if complete != nil && flag.NoOptDefVal == "" {
				_ = cmd.RegisterFlagCompletionFunc(flag.Name, complete) // fails for a flag that is not there, or has one
			}
		})
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
	}
	walk(root)
}

// completeOwnFunctions completes with the functions of the app that start would run.
func completeOwnFunctions(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	dir, err := remote.AppAbove(args)
	if err != nil {
		return nil, remote.NoMore
	}
	a, err := app.Load(dir, &app.Options{Env: app.Environment(os.Environ()), Kinds: served.Facts()})
	if err != nil {
		return nil, remote.NoMore
	}
	return show.FunctionsOf(a), remote.NoMore
}

// faultEntities are the entities of the service that the command names, or of all.
func faultEntities(cmd *cobra.Command, inv *run.Inventory) []string {
	of, _ := cmd.Flags().GetString("service")
	var names []string
	for service, list := range map[string][]string{
		"queue": queueNames(inv), "blob": containerNames(inv), "servicebus": busNames(inv, withMessages), "eventhubs": hubNames(inv),
		"cosmos": cosmosNames(inv), "eventgrid": subscriptionNames(inv), faults.Handler: functionNames(inv),
	} {
		if of == "" || of == service {
			names = append(names, list...)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func functionNames(inv *run.Inventory) (names []string) {
	for _, f := range inv.Functions {
		names = append(names, f.Name)
	}
	return names
}

func queueNames(inv *run.Inventory) (names []string) {
	for _, q := range inv.Queues {
		names = append(names, q.Name)
	}
	return names
}

func containerNames(inv *run.Inventory) (names []string) {
	for _, c := range inv.Containers {
		names = append(names, c.Name)
	}
	return names
}

func busNames(inv *run.Inventory, paths func(e *servicebus.BusEntity) []string) (names []string) {
	for i := range inv.ServiceBus {
		names = append(names, paths(&inv.ServiceBus[i])...)
	}
	return names
}

func hubNames(inv *run.Inventory) (names []string) {
	for _, hub := range inv.EventHubs {
		names = append(names, hub.Name)
	}
	return names
}

func cosmosNames(inv *run.Inventory) (names []string) {
	for _, c := range inv.Cosmos {
		names = append(names, c.Path)
	}
	return names
}

func suffixed(list []string, end string) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = s + end
	}
	return out
}
