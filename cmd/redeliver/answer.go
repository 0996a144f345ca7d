package main

import (
	"encoding/json"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/redeliver/redeliver/host/ops"
)

// A remote is a command for a running host: for which one, and whether it writes the
// host's answer as JSON.
type remote struct {
	target
	std    streams
	asJSON bool

	careful bool // it destroys: a host that was found by its port alone is not enough
	yes     bool
}

// plain adds the flags of a command that has no answer to write as JSON.
func (r *remote) plain(cmd *cobra.Command) *cobra.Command {
	addTarget(cmd, &r.target)
	return cmd
}

// changes adds the flags of a command that changes something, --json with them.
func (r *remote) changes(cmd *cobra.Command) *cobra.Command {
	cmd.Flags().BoolVar(&r.asJSON, "json", false, "write the host's answer as JSON")
	return r.plain(cmd)
}

// addOutput adds --output of a command that has several forms of it, and --json for short.
func addOutput(cmd *cobra.Command, output *string, otherwise, usage string) {
	cmd.Flags().StringVarP(output, "output", "o", otherwise, usage)
	short := cmd.Flags().VarPF(jsonFlag{output}, "json", "", "the same as --output json")
	short.NoOptDefVal = "true"
}

// jsonFlag is the value of --json, short for an output.
type jsonFlag struct{ output *string }

// String implements pflag.Value.
func (j jsonFlag) String() string { return strconv.FormatBool(j.output != nil && *j.output == "json") }

// Set implements pflag.Value.
func (j jsonFlag) Set(text string) error {
	on, err := strconv.ParseBool(text)
	if on {
		*j.output = "json"
	}
	return err
}

// Type implements pflag.Value.
func (j jsonFlag) Type() string { return "bool" }

// shows adds the flags of a command that shows something: --output text or json, or
// --json for short.
func (r *remote) shows(cmd *cobra.Command) *cobra.Command {
	var output string
	addOutput(cmd, &output, "text", "text or json")
	cmd.PreRunE = func(*cobra.Command, []string) error {
		r.asJSON = output == "json"
		return oneOf("output", output, "text", "json")
	}
	return r.plain(cmd)
}

// tell asks the host for an operation, and writes the answer: as text, or with --json as
// it came.
func tell[Out any](cmd *cobra.Command, r *remote, in ops.Request[Out], text func(out *Out) string) error {
	c, err := r.reach(cmd.Context())
	if err != nil {
		return err
	}
	if r.asJSON {
		var none Out
		if _, empty := any(none).(ops.None); empty {
			if _, err := call(cmd.Context(), c, in); err != nil {
				return err
			}
			return writeIndented(r.std, struct{}{})
		}
		var raw json.RawMessage
		if err := c.read(cmd.Context(), in, &raw); err != nil {
			return err
		}
		return writeIndented(r.std, raw)
	}
	out, err := call(cmd.Context(), c, in)
	if err == nil {
		newConsole(r.std, true).print(text(&out))
	}
	return err
}

// say writes what a command has done: as text, or with --json.
func (r *remote) say(done any, text string) error {
	if r.asJSON {
		return writeIndented(r.std, done)
	}
	newConsole(r.std, true).print(text)
	return nil
}

// written is a file that a command has written.
type written struct {
	File        string `json:"file"`
	Bytes       int64  `json:"bytes"`
	ContentType string `json:"contentType,omitempty"`
}

// writeIndented writes JSON for people too.
func writeIndented(std streams, v any) error {
	enc := json.NewEncoder(std.out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
