package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/redeliver/redeliver/cmd/redeliver/cli"
	"github.com/redeliver/redeliver/cmd/redeliver/remote"
	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/app/appsettings"
	"github.com/redeliver/redeliver/host/kinds/served"
	"github.com/redeliver/redeliver/host/web"
)

func newKeys(std cli.Streams) *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "keys [DIR]",
		Short: "Show the keys that callers need under --enableAuth",
		Long: `Keys prints the master, host, system and function keys of the app in DIR
(default: this folder). They are made once, by this command or by
"redeliver start --enableAuth", and kept in .redeliver/keys.json.

A key travels in the header x-functions-key or in the query parameter code.
Functions of level "function" take a function, host or master key, those of
level "admin" and everything below /admin take the master key. The keys of
functions that exist in code only appear once the host has run with
--enableAuth.

While the app runs, the keys of the storage accounts in AZURITE_ACCOUNTS are
shown too.`,
		Args: cli.Arguments(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := cli.OneOf("output", output, "text", "json"); err != nil {
				return err
			}
			dir, err := remote.AppAbove(args)
			if err != nil {
				return err
			}
			a, err := app.Load(dir, &app.Options{Env: appsettings.Environment(os.Environ()), Kinds: served.Facts()})
			if err != nil {
				return err
			}
			if a.MissingHostJSON && !wasRun(dir) {
				return cli.Hinted(fmt.Errorf("there is no app in %q", dir), "name the folder that holds host.json")
			}
			keys, err := web.OpenKeys(web.KeysFile(dir), a.Routed()...)
			if err != nil {
				return err
			}
			return showKeys(std, append(keys.All(), keysOfStorage(dir)...), output)
		},
	}
	cli.AddOutput(cmd, &output, "text", "text or json")
	return cmd
}

// wasRun reports whether a host has run in dir, which need not be an app for its
// services alone.
func wasRun(dir string) bool {
	info, err := os.Stat(app.StateFolder(dir))
	return err == nil && info.IsDir()
}

func showKeys(std cli.Streams, keys []web.Key, output string) error {
	if output == "json" {
		enc := json.NewEncoder(std.Out)
		enc.SetIndent("", "  ")
		return enc.Encode(keys)
	}
	w := tabwriter.NewWriter(std.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "KIND\tFUNCTION\tNAME\tKEY")
	for _, k := range keys {
		fmt.Fprintln(w, strings.Join([]string{k.Kind, dash(k.Function), dash(k.Name), k.Value}, "\t"))
	}
	return w.Flush()
}

// keysOfStorage are the keys of the storage accounts of the host that runs the app in
// dir; none when no host does.
func keysOfStorage(dir string) (out []web.Key) {
	info, err := remote.ReadRun(dir)
	if err != nil {
		return nil
	}
	for _, account := range info.StorageKeys {
		for i, key := range account.Keys {
			name := account.Account
			if i > 0 {
				name = fmt.Sprintf("%s/key%d", name, i+1)
			}
			out = append(out, web.Key{Kind: "storage", Name: name, Value: key})
		}
	}
	return out
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
