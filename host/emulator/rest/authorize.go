package rest

import (
	"strings"
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
		return errAuthentication("The request carries neither an Authorization header nor a signature.")
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
