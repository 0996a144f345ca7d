package rest

import (
	"strings"

	"github.com/redeliver/redeliver/bindings/storage"
)

// Headers and parameters that ask of the Blob service what cannot be had here:
// versions of a blob, protection from changes, an end of its own, encryption with a
// caller's key or scope, checksums in between. Such requests are not passed over.
//
// An algorithm of encryption alone asks for nothing: older SDKs always name it.
var (
	headersNotOffered = []string{
		"X-Ms-Encryption-Key", "X-Ms-Encryption-Key-Sha256", "X-Ms-Source-Encryption-Key", "X-Ms-Source-Encryption-Key-Sha256",
		"X-Ms-Encryption-Scope", "X-Ms-Default-Encryption-Scope", "X-Ms-Deny-Encryption-Scope-Override",
		"X-Ms-Expiry-Option", "X-Ms-Expiry-Time", "X-Ms-Immutability-Policy-Until-Date", "X-Ms-Legal-Hold", "X-Ms-Structured-Body",
	}
	parametersNotOffered = []string{"versionid", "deletetype"}

	// asEverybody are the values that ask for what every account has.
	asEverybody = map[string]string{
		"X-Ms-Default-Encryption-Scope": accountScope, "X-Ms-Deny-Encryption-Scope-Override": "false", "X-Ms-Legal-Hold": "false",
	}
)

// accountScope is the scope of what is encrypted with the account's own key.
const accountScope = "$account-encryption-key"

// checkOffered refuses a request that asks for what cannot be had, and names it.
func checkOffered(c *call) *Error {
	for _, name := range headersNotOffered {
		if v := c.r.Header.Get(name); v != "" && !strings.EqualFold(v, asEverybody[name]) {
			return errNotOffered("HeaderName", strings.ToLower(name))
		}
	}
	for _, name := range parametersNotOffered {
		if c.query.Has(name) {
			return errNotOffered("QueryParameterName", name)
		}
	}
	return nil
}

// errNotOffered is the answer to a request for a feature that this service does not
// have; it names the part that asked for it.
func errNotOffered(kind, name string) *Error {
	e := blobError(storage.NewError(storage.CodeNotImplemented))
	e.Message = "the feature of " + name + " is not offered here"
	e.Details = append(e.Details, Detail{kind, name})
	return e
}
