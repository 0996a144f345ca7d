package rest

import (
	"context"
	"net/http"
	"strings"

	"github.com/redeliver/redeliver/bindings/blob"
)

// containerLetters are the permissions of a policy for a container.
const containerLetters = "racwdxyltmeopif"

func (a asked) publicAccess() (blob.PublicAccess, *Error) {
	text := a.Get("X-Ms-Blob-Public-Access")
	switch level := blob.PublicAccess(strings.ToLower(text)); level {
	case blob.NoPublicAccess, blob.PublicBlobs, blob.PublicContainer:
		return level, nil
	}
	return "", errInvalidHeader("x-ms-blob-public-access", text)
}

func createContainer(c *call) error {
	opts := &blob.CreateContainerOptions{}
	var refused *Error
	if opts.Metadata, refused = c.metadata(); refused != nil {
		return refused
	}
	if opts.PublicAccess, refused = c.asked().publicAccess(); refused != nil {
		return refused
	}
	return c.write(http.StatusCreated, func(ctx context.Context) (*blob.Written, error) {
		return c.container().Create(ctx, opts)
	})
}

// write runs a write in the clock and answers with the new version.
func (c *call) write(status int, f func(ctx context.Context) (*blob.Written, error)) error {
	var w *blob.Written
	err := c.inside(func(ctx context.Context) (err error) {
		w, err = f(ctx)
		return err
	})
	if err != nil {
		return err
	}
	return c.written(status, w)
}

// writeContent is write for what is stored encrypted, as every account's data is.
func (c *call) writeContent(status int, f func(ctx context.Context) (*blob.Written, error)) error {
	return c.write(status, func(ctx context.Context) (*blob.Written, error) {
		w, err := f(ctx)
		if err == nil {
			c.headers().encrypted()
		}
		return w, err
	})
}

func (c *call) containerProperties() error {
	cond, refused := c.conditions("")
	if refused != nil {
		return refused
	}
	var p *blob.ContainerProperties
	err := c.inside(func(ctx context.Context) (err error) {
		p, err = c.container().Properties(ctx, cond)
		return err
	})
	if err != nil {
		return err
	}
	c.headers().version(p.ETag, p.LastModified)
	c.headers().metadata(p.Metadata)
	if c.op.name == "GetContainerMetadata" {
		return nil
	}
	c.headers().lease(p.Lease)
	h := c.w.Header()
	c.headers().publicAccess(p.PublicAccess)
	h.Set("X-Ms-Has-Immutability-Policy", "false")
	h.Set("X-Ms-Has-Legal-Hold", "false")
	h.Set("X-Ms-Immutable-Storage-With-Versioning-Enabled", "false")
	h.Set("X-Ms-Default-Encryption-Scope", accountScope)
	h.Set("X-Ms-Deny-Encryption-Scope-Override", "false")
	return nil
}

func (h headers) publicAccess(level blob.PublicAccess) {
	if level != blob.NoPublicAccess {
		h.set("X-Ms-Blob-Public-Access", string(level))
	}
}

func getContainerProperties(c *call) error {
	if err := c.containerProperties(); err != nil {
		return err
	}
	return c.answer(http.StatusOK, nil)
}

func getContainerMetadata(c *call) error { return getContainerProperties(c) }

func setContainerMetadata(c *call) error {
	cond, refused := c.conditions("")
	if refused != nil {
		return refused
	}
	metadata, refused := c.metadata()
	if refused != nil {
		return refused
	}
	return c.write(http.StatusOK, func(ctx context.Context) (*blob.Written, error) {
		return c.container().SetMetadata(ctx, metadata, cond)
	})
}

func deleteContainer(c *call) error {
	cond, refused := c.conditions("")
	if refused != nil {
		return refused
	}
	if err := c.inside(func(ctx context.Context) error { return c.container().Delete(ctx, cond) }); err != nil {
		return err
	}
	inside := "lease of " + c.path[0] + "/"
	c.front.pins.ReleaseFunc(func(key string) bool {
		return key == c.pinOfLease() || strings.HasPrefix(key, inside) && strings.HasSuffix(key, " of "+c.account.Name)
	})
	return c.answer(http.StatusAccepted, nil)
}

func getContainerACL(c *call) error {
	cond, refused := c.conditions("")
	if refused != nil {
		return refused
	}
	var a *blob.ContainerAccess
	err := c.inside(func(ctx context.Context) (err error) {
		a, err = c.container().Access(ctx, cond)
		return err
	})
	if err != nil {
		return err
	}
	c.headers().version(a.ETag, a.LastModified)
	c.headers().publicAccess(a.PublicAccess)
	return c.answer(http.StatusOK, policiesDocument(a.Policies))
}

func setContainerACL(c *call) error {
	cond, refused := c.conditions("")
	if refused != nil {
		return refused
	}
	a := &blob.ContainerAccess{}
	if a.PublicAccess, refused = c.asked().publicAccess(); refused != nil {
		return refused
	}
	b, err := c.body(maxDocument)
	if err != nil {
		return err
	}
	if a.Policies, refused = parsePolicies(b, containerLetters); refused != nil {
		return refused
	}
	return c.write(http.StatusOK, func(ctx context.Context) (*blob.Written, error) {
		return c.container().SetAccess(ctx, a, cond)
	})
}
