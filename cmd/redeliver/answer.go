package main

import (
	"encoding/json"

	"github.com/redeliver/redeliver/host/web/api"
	"github.com/spf13/cobra"
)

// A remote is a command for a running host: for which one, and whether it writes the
// host's answer as JSON.
type remote struct {
	target
	std    streams
	asJSON bool
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

// shows adds the flags of a command that shows something: --output text or json, or
// --json for short.
func (r *remote) shows(cmd *cobra.Command) *cobra.Command {
	var output string
	cmd.Flags().StringVarP(&output, "output", "o", "text", "text or json")
	cmd.Flags().BoolVar(&r.asJSON, "json", false, "the same as --output json")
	cmd.PreRunE = func(*cobra.Command, []string) error {
		r.asJSON = r.asJSON || output == "json"
		return oneOf("output", output, "text", "json")
	}
	return r.plain(cmd)
}

// tell asks the host for an operation, and writes the answer: as text, or with --json as
// it came.
func tell[Out any](cmd *cobra.Command, r *remote, in api.Operation[Out], text func(out *Out) string) error {
	c, err := r.find()
	if err != nil {
		return err
	}
	if r.asJSON {
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

// writeIndented writes JSON for people too.
func writeIndented(std streams, v any) error {
	enc := json.NewEncoder(std.out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
