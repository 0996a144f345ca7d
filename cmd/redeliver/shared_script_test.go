package main

import (
	"regexp"

	"github.com/rogpeppe/go-internal/testscript"
)

// remember NAME VAR REGEXP keeps what the first group of a regular expression
// matches in the output of a process, or of the last command (stdout), as a variable of
// the script.
func remember(ts *testscript.TestScript, neg bool, args []string) {
	var text string
	if args[0] == "stdout" {
		text = ts.ReadFile("stdout")
	} else {
		text, _ = named(ts, args[0]).output()
	}
	found := regexp.MustCompile("(?m)" + args[2]).FindStringSubmatch(text)
	if found == nil {
		ts.Fatalf("%s has not written %q", args[0], args[2])
	}
	ts.Setenv(args[1], found[1])
}
