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

func createContainer(c *Call) error {
	opts := &blob.CreateContainerOptions{}
	var refused *Error
	if opts.Metadata, refused = c.Metadata(); refused != nil {
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
func (c *Call) write(status int, f func(ctx context.Context) (*blob.Written, error)) error {
	var w *blob.Written
	err := c.Inside(func(ctx context.Context) (err error) {
		w, err = f(ctx)
		return err
	})
	if err != nil {
		return err
	}
	return c.written(status, w)
}

// writeContent is write for what is stored encrypted, as every account's data is.
func (c *Call) writeContent(status int, f func(ctx context.Context) (*blob.Written, error)) error {
	return c.write(status, func(ctx context.Context) (*blob.Written, error) {
		w, err := f(ctx)
		if err == nil {
			c.Headers().encrypted()
		}
		return w, err
	})
}

func (c *Call) containerProperties() error {
	cond, refused := c.conditions("")
	if refused != nil {
		return refused
	}
	var p *blob.ContainerProperties
	err := c.Inside(func(ctx context.Context) (err error) {
		p, err = c.container().Properties(ctx, cond)
		return err
	})
	if err != nil {
		return err
	}
	c.Headers().version(p.ETag, p.LastModified)
	c.Headers().Metadata(p.Metadata)
	if c.op.Name == "GetContainerMetadata" {
		return nil
	}
	c.Headers().lease(p.Lease)
	h := c.W.Header()
	c.Headers().publicAccess(p.PublicAccess)
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

func getContainerProperties(c *Call) error {
	if err := c.containerProperties(); err != nil {
		return err
	}
	return c.Answer(http.StatusOK, nil)
}

func getContainerMetadata(c *Call) error { return getContainerProperties(c) }

func setContainerMetadata(c *Call) error {
	cond, refused := c.conditions("")
	if refused != nil {
		return refused
	}
	metadata, refused := c.Metadata()
	if refused != nil {
		return refused
	}
	return c.write(http.StatusOK, func(ctx context.Context) (*blob.Written, error) {
		return c.container().SetMetadata(ctx, metadata, cond)
	})
}

func deleteContainer(c *Call) error {
	cond, refused := c.conditions("")
	if refused != nil {
		return refused
	}
	if err := c.Inside(func(ctx context.Context) error { return c.container().Delete(ctx, cond) }); err != nil {
		return err
	}
	inside := "lease of " + c.Path[0] + "/"
	c.front.pins.ReleaseFunc(func(key string) bool {
		return key == c.pinOfLease() || strings.HasPrefix(key, inside) && strings.HasSuffix(key, " of "+c.Account.Name)
	})
	return c.Answer(http.StatusAccepted, nil)
}

func getContainerACL(c *Call) error {
	cond, refused := c.conditions("")
	if refused != nil {
		return refused
	}
	var a *blob.ContainerAccess
	err := c.Inside(func(ctx context.Context) (err error) {
		a, err = c.container().Access(ctx, cond)
		return err
	})
	if err != nil {
		return err
	}
	c.Headers().version(a.ETag, a.LastModified)
	c.Headers().publicAccess(a.PublicAccess)
	return c.Answer(http.StatusOK, PoliciesDocument(a.Policies))
}

func setContainerACL(c *Call) error {
	cond, refused := c.conditions("")
	if refused != nil {
		return refused
	}
	a := &blob.ContainerAccess{}
	if a.PublicAccess, refused = c.asked().publicAccess(); refused != nil {
		return refused
	}
	b, err := c.Body(MaxDocument)
	if err != nil {
		return err
	}
	if a.Policies, refused = ParsePolicies(b, containerLetters); refused != nil {
		return refused
	}
	return c.write(http.StatusOK, func(ctx context.Context) (*blob.Written, error) {
		return c.container().SetAccess(ctx, a, cond)
	})
}
