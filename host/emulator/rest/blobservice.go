package rest

import (
	"context"
	"net/http"

	"github.com/redeliver/redeliver/bindings/storage"
)

func getBlobServiceProperties(c *Call) error {
	var p *storage.ServiceProperties
	err := c.Inside(func(ctx context.Context) (err error) {
		p, err = c.Account.Blobs.BlobServiceProperties(ctx)
		return err
	})
	if err != nil {
		return err
	}
	return c.Answer(http.StatusOK, PropertiesDocument(*p))
}

func setBlobServiceProperties(c *Call) error {
	b, err := c.Body(MaxDocument)
	if err != nil {
		return err
	}
	p, refused := ParseProperties(b)
	if refused != nil {
		return refused
	}
	if err := c.Inside(func(ctx context.Context) error { return c.Account.Blobs.SetBlobServiceProperties(ctx, &p) }); err != nil {
		return err
	}
	return c.Answer(http.StatusAccepted, nil)
}

// getAccountInformation says what kind of account this is, as Azurite does.
func getAccountInformation(c *Call) error {
	h := c.W.Header()
	h.Set("X-Ms-Sku-Name", "Standard_RAGRS")
	h.Set("X-Ms-Account-Kind", "StorageV2")
	h.Set("X-Ms-Is-Hns-Enabled", "false")
	return c.Answer(http.StatusOK, nil)
}
