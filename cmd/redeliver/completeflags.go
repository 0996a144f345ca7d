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
	"github.com/redeliver/redeliver/cmd/redeliver/verbs"
	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/app/appsettings"
	"github.com/redeliver/redeliver/host/app/hostjson"
	"github.com/redeliver/redeliver/host/kinds/served"
	"github.com/redeliver/redeliver/host/ops"
	"github.com/redeliver/redeliver/host/ops/blobs"
	"github.com/redeliver/redeliver/host/ops/queues"
	"github.com/redeliver/redeliver/host/ops/run"
)

// closed completes a value with one of a closed set.
func closed(list ...string) remote.Completion { return cobra.FixedCompletions(list, remote.NoMore) }

// flagValues complete the values of flags, by the flag's name, or by command and flag
// where one name has several meanings. Files are nil: the shell knows them.
func flagValues(table ops.Table) map[string]remote.Completion {
	folder := func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return nil, cobra.ShellCompDirectiveFilterDirs
	}
	port := closed("0", "off")
	functions := verbs.Known(func(_ *cobra.Command, inv *run.Inventory) []string { return verbs.FunctionNames(inv) })
	entities := verbs.Known(func(_ *cobra.Command, inv *run.Inventory) []string { return verbs.Sendable(inv) })
	switches := func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return suffixed(hostjson.SwitchNames(), "="), remote.NoMore | cobra.ShellCompDirectiveNoSpace
	}
	statuses := closed("Pending", "Running", "Suspended", "Completed", "Failed", "Terminated")
	return map[string]remote.Completion{
		"output": closed("text", "json"), "redeliver start --output": closed("pretty", "plain", "json"),
		"clock":          closed(show.ClockModes...),
		"ports":          closed("any"),
		"user-log-level": closed(hostjson.LogLevelWords()...),
		"cors":           closed("*"),
		"lang":           closed(slices.Sorted(maps.Keys(scaffold.NewLanguages))...),
		"trigger":        closed(scaffold.NewKindNames()...),
		"service":        closed(table.Faults().Names()...),
		"schema":         closed("eventgrid", "cloudevents"),
		"mode":           closed("insert", "merge", "replace"),
		"status":         closed("Active", "Disabled", "SendDisabled", "ReceiveDisabled"), "redeliver fail operation --status": free,
		"redeliver ls --status": statuses, "redeliver purge orchestrations --status": statuses,
		"redeliver ls --name": functions,
		"worker": func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return []string{"shim", "official"}, remote.OrFile
		},
		"redeliver test --seed":      closed("random"),
		"redeliver send queue --ttl": closed("never"),
		"set":                        switches,
		"dir":                        folder, "app": folder, "data": folder, "replace": folder,
		"function": functions, "endpoint": functions,
		"redeliver start --functions":  completeOwnFunctions,
		"redeliver redrive queue --to": verbs.Known(func(_ *cobra.Command, inv *run.Inventory) []string { return verbs.NamesOf(queues.Service)(inv) }),
		"entity": verbs.Known(func(cmd *cobra.Command, inv *run.Inventory) []string {
			of, _ := cmd.Flags().GetString("service")
			return verbs.FaultEntities(table.Services(), of, inv)
		}),
		"forward-to": entities, "forward-dead-letters-to": entities,
		"dead-letter-container": verbs.Known(func(_ *cobra.Command, inv *run.Inventory) []string { return verbs.NamesOf(blobs.Service)(inv) }),
		"blob-port":             port, "queue-port": port, "table-port": port, "servicebus-port": port, "servicebus-tls-port": port, "servicebus-admin-port": port, "eventgrid-port": port,
		"junit": nil, "journal": nil, "tls-cert": nil, "tls-key": nil, "servicebus-config": nil, "eventhubs-config": nil,
	}
}

// free completes nothing: a number, a span, or a text of the user's own.
func free(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, remote.NoMore
}

// completeFlags has the shell complete the values of all flags.
func completeFlags(root *cobra.Command, table ops.Table) {
	values := flagValues(table)
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
	a, err := app.Load(dir, &app.Options{Env: appsettings.Environment(os.Environ()), Kinds: served.Facts()})
	if err != nil {
		return nil, remote.NoMore
	}
	return show.FunctionsOf(a), remote.NoMore
}

func suffixed(list []string, end string) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = s + end
	}
	return out
}
