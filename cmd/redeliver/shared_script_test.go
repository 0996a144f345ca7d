package main

import (
	"regexp"

	"github.com/rogpeppe/go-internal/testscript"
)

// remember NAME VAR REGEXP keeps what the first group of a regular expression
// matches in the output of a process, as a variable of the script.
func remember(ts *testscript.TestScript, neg bool, args []string) {
	text, _ := named(ts, args[0]).output()
	found := regexp.MustCompile("(?m)" + args[2]).FindStringSubmatch(text)
	if found == nil {
		ts.Fatalf("%s has not written %q", args[0], args[2])
	}
	ts.Setenv(args[1], found[1])
}
