package rest

import (
	"context"
	"strings"

	"github.com/redeliver/redeliver/bindings/blob"
)

// access is what a caller may do, once it has proved who it is. The zero value is that of
// who has the account's key: everything.
type access struct {
	letters   *string // the permissions of a signature; nil: everything
	anonymous bool    // everybody may do this
	overrides bool    // the signature signs the headers that it puts in place
	claims    claims  // of a bearer token
}

// allows reports whether the caller may do what one of the letters stands for.
func (a access) allows(letters string) bool {
	return a.letters == nil || strings.ContainsAny(*a.letters, letters)
}

// authorize finds out what the caller may do, or says why not the call's operation. There
// is one function for each way to prove it.
func authorize(c *Call) (access, *Error) {
	header := c.R.Header.Get("Authorization")
	if c.op.byToken && !strings.HasPrefix(header, "Bearer ") {
		return access{}, errAuthentication("Only authentication scheme Bearer is supported")
	}
	if header == "" {
		if c.Query.Has("sig") {
			return bySignature(c)
		}
		if c.op.public != blob.NoPublicAccess {
			if by, ok := byNobody(c); ok {
				return by, nil
			}
		}
		return access{}, errNoAuthentication("The request carries neither an Authorization header nor a signature.")
	}
	scheme, credential, ok := strings.Cut(header, " ")
	if !ok {
		return access{}, errAuthenticationInfo()
	}
	switch scheme {
	case "SharedKey", "SharedKeyLite":
		return access{}, byKey(c, scheme, credential)
	case "Bearer":
		return byToken(c, credential)
	}
	return access{}, errAuthenticationInfo()
}

// byNobody reports whether everybody may do what the call's operation does: read
// the blobs of a public container or, at its higher level, the container too.
//
// Source: docs, Configure anonymous read access for containers and blobs; Set
// Container ACL, "x-ms-blob-public-access".
func byNobody(c *Call) (access, bool) {
	var to *blob.ContainerAccess
	err := c.Inside(func(ctx context.Context) (err error) {
		to, err = c.container().Access(ctx, nil)
		return err
	})
	if err != nil || to.PublicAccess != blob.PublicContainer && to.PublicAccess != c.op.public {
		return access{}, false
	}
	letters := "rl"
	return access{letters: &letters, anonymous: true}, true
}
