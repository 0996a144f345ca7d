package mcp_test

import (
	"encoding/json"
	"testing"

	"github.com/spf13/cobra"

	"github.com/redeliver/redeliver/cmd/redeliver/mcp"
	"github.com/redeliver/redeliver/host/ops/servicebus"
)

// What an operation does not say of its arguments, its command does; and arguments that are
// flags say what these say.
func TestArgumentsOfACommand(t *testing.T) {
	t.Parallel()
	cmd := &cobra.Command{Use: "servicebus ENTITY [BODY|-]", Example: "  redeliver send servicebus orders 'x'\n  redeliver send servicebus 'a/$b' --id 7\n  redeliver send servicebus orders"}
	flags := cmd.Flags()
	flags.Int("no-build", 3, "how often")
	flags.Bool("watch", false, "again")
	w := mcp.Operation(nil, "servicebus", mcp.Changes, servicebus.SendBusMessage{}, func(*servicebus.BusSent) string { return "" }).Described("correlation", "correlation ID; with --id twice").Named("path").Like(cmd)
	got := map[string]any{}
	for _, a := range append(w.Arguments, mcp.Flags(flags, "no-build", "watch")...) {
		got[a.Name] = a.Schema
	}
	for name, want := range map[string]string{
		"name":        `{"description":"ENTITY, e.g. orders or a/$b","type":"string"}`,
		"id":          `{"description":"ID of the message","type":"string"}`,
		"correlation": `{"description":"correlation ID; with id twice","type":"string"}`,
		"contentType": `{"description":"content type, e.g. application/json","type":"string"}`,
		"property":    `{"description":"name=text; name:=5 for numbers, true, false, null","items":{"type":"string"},"type":"array"}`,
		"subject":     `{"description":"subject, also called label","type":"string"}`,
		"noBuild":     `{"default":3,"description":"how often","type":"integer"}`,
		"watch":       `{"description":"again","type":"boolean"}`,
	} {
		if text, err := json.Marshal(got[name]); string(text) != want {
			t.Errorf("%s: got %s, want %s (%v)", name, text, want, err)
		}
	}
	if got, want := mcp.Prose("One line\nand more with --no-build.\n\nName the host with --dir.\n\nNo more.", 2), "One line and more with noBuild.\nName the host with --dir."; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
