package main

import (
	"encoding/json"
	"fmt"
	"net/url"

	"github.com/spf13/cobra"

	"github.com/redeliver/redeliver/host/web/control"
)

// addJSON adds --json.
func addJSON(cmd *cobra.Command, asJSON *bool) {
	cmd.Flags().BoolVar(asJSON, "json", false, "write the host's answer as JSON")
}

// A view is how a command that shows something answers: --output text or json, or
// --json for short.
type view struct {
	output string
	short  bool
}

func (v *view) add(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&v.output, "output", "o", "text", "text or json")
	cmd.Flags().BoolVar(&v.short, "json", false, "the same as --output json")
}

// json reports whether the answer is for a program.
func (v *view) json() (bool, error) {
	return v.short || v.output == "json", oneOf("output", v.output, "text", "json")
}

// callHost makes a request of the control API. With asJSON it writes the answer, and
// reports that all is done; otherwise it reads it into out.
func callHost(cmd *cobra.Command, t *target, std streams, asJSON bool, method, path string, query url.Values, in []byte, out any) (done bool, err error) {
	c, err := t.find()
	if err != nil {
		return false, err
	}
	var raw json.RawMessage
	if err := c.call(cmd.Context(), method, path, query, in, &raw); err != nil {
		return false, err
	}
	if asJSON {
		return true, writeIndented(std, raw)
	}
	if err := json.Unmarshal(raw, out); err != nil {
		return false, fmt.Errorf("answer of %s: %w", c.base, err)
	}
	return false, nil
}

// askHost asks the host that t means for an operation. With asJSON it writes the answer,
// and reports that all is done.
func askHost[Out any](cmd *cobra.Command, t *target, std streams, asJSON bool, in control.Operation[Out]) (out Out, done bool, err error) {
	c, err := t.find()
	if err != nil {
		return out, false, err
	}
	if !asJSON {
		out, err = call(cmd.Context(), c, in)
		return out, false, err
	}
	resp, err := c.ask(cmd.Context(), in)
	if err != nil {
		return out, false, err
	}
	defer resp.Body.Close()
	var raw json.RawMessage
	if err := json.NewDecoder(resp.Body).Decode(&raw); err != nil {
		return out, false, fmt.Errorf("answer of %s: %w", c.base, err)
	}
	return out, true, writeIndented(std, raw)
}

// writeIndented writes JSON for people too.
func writeIndented(std streams, v any) error {
	enc := json.NewEncoder(std.out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// jsonText is a value as JSON; it is one that always has some.
func jsonText(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return text
}
