package verbs

import (
	"context"
	"errors"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/redeliver/redeliver/cmd/redeliver/cli"
	"github.com/redeliver/redeliver/cmd/redeliver/remote"
	"github.com/redeliver/redeliver/host/web"
)

// openPage is "redeliver ui", by hand since it asks for no operation: it opens an address.
func openPage(std cli.Streams) *cobra.Command {
	r := &remote.Remote{Std: std}
	var printed bool
	cmd := r.Changes(&cobra.Command{
		Use:   "ui",
		Short: "Open the page of the running host in a browser",
		Long: `Ui prints the address of the page of the running host, and opens it in a
browser. The page shows deliveries and attempts as they happen, the message
behind each, functions, services and the clock. "redeliver start --open" opens
it with the host, "start --no-ui" serves none.

The environment variable BROWSER names a program to open it with.`,
		Example: `  redeliver ui
  redeliver ui --print`,
		Args: cli.Arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := r.Find()
			if err != nil {
				return err
			}
			address, err := page(cmd.Context(), c)
			if err != nil {
				return err
			}
			if err := r.Say(map[string]string{"page": address}, address+"\n"); err != nil || printed {
				return err
			}
			opening, err := cli.BrowserFor(address)
			if err != nil {
				return err
			}
			opening.Stderr = std.Err
			if err := opening.Run(); err != nil {
				return cli.NoBrowser(opening.Path + ": " + err.Error())
			}
			return nil
		},
	})
	cmd.Flags().BoolVar(&printed, "print", false, "print the address only")
	return cmd
}

// page is the address of the host's page, if the host has one.
func page(ctx context.Context, c *remote.Client) (string, error) {
	if err := c.Recognise(ctx); err != nil {
		return "", err
	}
	address := c.Base + web.PagePath
	req, err := http.NewRequestWithContext(ctx, http.MethodHead, address, nil)
	if err != nil {
		return "", err
	}
	resp, err := c.Request(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusNotFound {
		return "", noPage(c.Base)
	} else if resp.StatusCode != http.StatusOK {
		return "", c.Refused(resp)
	}
	return address, nil
}

func noPage(base string) error {
	return cli.Hinted(errors.New("the host at "+base+" serves no page"), "start it without --no-ui")
}
