package main

import (
	"strings"
)

// hostStart takes the word away that Core Tools have before start: "host start".
func hostStart(args []string) []string {
	if len(args) > 1 && args[0] == "host" && args[1] == "start" {
		return args[1:]
	}
	return args
}

// coreToolsFlags are flags of Core Tools that are others here, with what to type.
var coreToolsFlags = map[string]string{ // read only
	"worker-runtime": "redeliver init DIR --lang LANGUAGE",
	"template":       "redeliver new NAME --trigger KIND",
	"useHttps":       "redeliver start --tls",
	"cert":           "redeliver start --tls; redeliver start --help has the flags for a certificate",
	"script-root":    "name the folder: redeliver start DIR",
	"timeout":        "the start waits as long as it takes: leave the flag out; a limit for functions is functionTimeout of host.json",
	"language":       "redeliver init DIR --lang LANGUAGE",
	"authlevel":      "write it into the function; redeliver start --enableAuth asks for keys",
	"csx":            "redeliver init DIR --lang dotnet",
}

// coreToolsFlag is what to type instead of the unknown flag that the error of the flag
// library names; empty when it is nobody's.
func coreToolsFlag(text string) string {
	name, is := strings.CutPrefix(text, "unknown flag: --")
	if !is {
		return ""
	}
	return coreToolsFlags[name]
}
