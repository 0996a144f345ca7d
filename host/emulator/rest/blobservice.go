package rest

import (
	"context"
	"net/http"

	"github.com/redeliver/redeliver/bindings/storage"
)

func getBlobServiceProperties(c *call) error {
	var p *storage.ServiceProperties
	err := c.inside(func(ctx context.Context) (err error) {
		p, err = c.account.Blobs.BlobServiceProperties(ctx)
		return err
	})
	if err != nil {
		return err
	}
	return c.answer(http.StatusOK, propertiesDocument(*p))
}

func setBlobServiceProperties(c *call) error {
	b, err := c.body(maxDocument)
	if err != nil {
		return err
	}
	p, refused := parseProperties(b)
	if refused != nil {
		return refused
	}
	if err := c.inside(func(ctx context.Context) error { return c.account.Blobs.SetBlobServiceProperties(ctx, &p) }); err != nil {
		return err
	}
	return c.answer(http.StatusAccepted, nil)
}

// getAccountInformation says what kind of account this is, as Azurite does.
func getAccountInformation(c *call) error {
	h := c.w.Header()
	h.Set("X-Ms-Sku-Name", "Standard_RAGRS")
	h.Set("X-Ms-Account-Kind", "StorageV2")
	h.Set("X-Ms-Is-Hns-Enabled", "false")
	return c.answer(http.StatusOK, nil)
}
