package rest

import (
	"context"
	"strings"

	"github.com/redeliver/redeliver/bindings/blob"
)

// authorize lets the call's operation through, or says why not.
func (c *call) authorize() *Error {
	header := c.r.Header.Get("Authorization")
	if c.op.byToken && !strings.HasPrefix(header, "Bearer ") {
		return errAuthentication("Only authentication scheme Bearer is supported")
	}
	if header == "" {
		if c.query.Has("sig") {
			return c.authorizeBySignature()
		}
		if c.op.public != blob.NoPublicAccess && c.publicAllows() {
			return nil
		}
		return errNoAuthentication("The request carries neither an Authorization header nor a signature.")
	}
	scheme, credential, ok := strings.Cut(header, " ")
	if !ok {
		return errAuthenticationInfo()
	}
	switch scheme {
	case "SharedKey", "SharedKeyLite":
		return c.authorizeByKey(scheme, credential)
	case "Bearer":
		return c.authorizeByToken(credential)
	}
	return errAuthenticationInfo()
}

// publicAllows reports whether everybody may do what the call's operation does: read
// the blobs of a public container or, at its higher level, the container too.
//
// Source: docs, Configure anonymous read access for containers and blobs; Set
// Container ACL, "x-ms-blob-public-access".
func (c *call) publicAllows() bool {
	var access *blob.ContainerAccess
	err := c.inside(func(ctx context.Context) (err error) {
		access, err = c.container().Access(ctx, nil)
		return err
	})
	if err != nil || access.PublicAccess != blob.PublicContainer && access.PublicAccess != c.op.public {
		return false
	}
	rights := "rl"
	c.allowed, c.anonymous = &rights, true
	return true
}
