package main

import (
	"context"
	"errors"
	"os"
	"regexp"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/redeliver/redeliver/functions"
)

// hostileText clears the screen, names the window and forges a line.
const hostileText = "\x1b[2J\x1b]0;owned\a\n1  forged\r\u009b31m\u202etxt\xff"

// oddApp repeats what it is given wherever people read it.
func oddApp() *functions.App {
	app := functions.New()
	app.Queue("Odd", "odd", func(ctx context.Context, m functions.QueueMessage) error {
		functions.Logger(ctx).Info(string(m.Body), "field", string(m.Body))
		os.Stdout.WriteString(string(m.Body) + "\n")
		return errors.New(string(m.Body))
	})
	return app
}

// hostile VAR FILE sets a variable to hostile text, without what no argument can
// hold, and writes it to a file.
func hostile(ts *testscript.TestScript, neg bool, args []string) {
	ts.Setenv(args[0], hostileText)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(hostileText), 0o600))
}

// harmless NAME|FILE checks that what a process wrote, or a file, has nothing that a
// terminal obeys.
func harmless(ts *testscript.TestScript, neg bool, args []string) {
	var text string
	if p := ts.Value(processesKey{}).(*processes).byName[args[0]]; p != nil {
		text, _ = p.output()
	} else {
		text = ts.ReadFile(args[0])
	}
	if found := regexp.MustCompile("[\x00-\x08\x0b-\x1f\x7f\u0080-\u009f\u202e]").FindStringIndex(text); found != nil {
		ts.Fatalf("%s: %q", args[0], text[max(0, found[0]-200):min(len(text), found[1]+40)])
	}
}
