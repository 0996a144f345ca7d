package main

import "github.com/spf13/pflag"

// hostStart takes the word away that Core Tools have before start: "host start".
func hostStart(args []string) []string {
	if len(args) > 1 && args[0] == "host" && args[1] == "start" {
		return args[1:]
	}
	return args
}

// addCoreTools adds the flags of Core Tools 5 that are others here (spec host-and-retry
// 12.1). They are hidden: who has them in a script may go on, and nobody needs them.
func addCoreTools(flags *pflag.FlagSet, f *startFlags) {
	var nothing bool
	flags.BoolVar(&f.enableAuth, "enable-auth", false, "the same as --enableAuth")
	flags.BoolVar(&nothing, "no-tui", false, "no effect: there is no such view")
	flags.BoolVar(&nothing, "no-azurite", false, "no effect: the storage is this host's own")
	flags.StringVar(&f.logFile, "log-file", "", "not served: redirect the output")
	for _, name := range []string{"enable-auth", "no-tui", "no-azurite", "log-file"} {
		flags.Lookup(name).Hidden = true
	}
}
