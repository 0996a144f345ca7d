package main

import (
	"context"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/redeliver/redeliver/host/web"
)

func newUI(std streams) *cobra.Command {
	r := &remote{std: std}
	var printed bool
	cmd := r.changes(&cobra.Command{
		Use:   "ui",
		Short: "Open the page of the running host in a browser",
		Long: `Ui prints the address of the page of the running host, and opens it in a
browser. The page shows deliveries and attempts as they happen, the message
behind each, functions, services and the clock. "redeliver start --open" opens
it with the host, "start --no-ui" serves none.

The environment variable BROWSER names a program to open it with.`,
		Example: `  redeliver ui
  redeliver ui --print`,
		Args: arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := r.find()
			if err != nil {
				return err
			}
			address, err := c.page(cmd.Context())
			if err != nil {
				return err
			}
			if err := r.say(map[string]string{"page": address}, address+"\n"); err != nil || printed {
				return err
			}
			opening, err := browserFor(address)
			if err != nil {
				return err
			}
			opening.Stderr = std.err
			if err := opening.Run(); err != nil {
				return noBrowser(opening.Path + ": " + err.Error())
			}
			return nil
		},
	})
	cmd.Flags().BoolVar(&printed, "print", false, "print the address only")
	return cmd
}

// page is the address of the host's page, if the host has one.
func (c *client) page(ctx context.Context) (string, error) {
	if err := c.recognise(ctx); err != nil {
		return "", err
	}
	address := c.base + web.PagePath
	req, err := http.NewRequestWithContext(ctx, http.MethodHead, address, nil)
	if err != nil {
		return "", err
	}
	resp, err := c.request(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusNotFound {
		return "", noPage(c.base)
	} else if resp.StatusCode != http.StatusOK {
		return "", c.refused(resp)
	}
	return address, nil
}
