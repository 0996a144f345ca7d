package rest

import (
	"strings"

	"github.com/redeliver/redeliver/bindings/storage"
)

// Headers and parameters that ask of the Blob service what cannot be had here:
// versions of a blob, protection from changes, an end of its own, encryption with a
// caller's key, checksums in between. Such requests are not passed over.
//
// An algorithm of encryption alone asks for nothing: older SDKs always name it.
var (
	headersNotOffered = []string{
		"X-Ms-Encryption-Key", "X-Ms-Encryption-Key-Sha256", "X-Ms-Source-Encryption-Key", "X-Ms-Source-Encryption-Key-Sha256",
		"X-Ms-Expiry-Option", "X-Ms-Expiry-Time", "X-Ms-Immutability-Policy-Until-Date", "X-Ms-Structured-Body",
	}
	parametersNotOffered = []string{"versionid", "deletetype"}
)

// headersIgnored are settings without an effect here: a blob reads the same. Azurite passes
// over them too, so an app that has them in its configuration runs; a warning says it once.
var headersIgnored = []string{ // read only
	"X-Ms-Encryption-Scope", "X-Ms-Default-Encryption-Scope", "X-Ms-Deny-Encryption-Scope-Override", "X-Ms-Legal-Hold",
}

// asEverybody are the values that ask for what every account has.
var asEverybody = map[string]string{ // read only
	"X-Ms-Default-Encryption-Scope": accountScope, "X-Ms-Deny-Encryption-Scope-Override": "false", "X-Ms-Legal-Hold": "false",
}

// accountScope is the scope of what is encrypted with the account's own key.
const accountScope = "$account-encryption-key"

// checkOffered refuses a request that asks for what cannot be had, and names it.
func checkOffered(c *Call) *Error {
	for _, name := range headersNotOffered {
		if c.R.Header.Get(name) != "" {
			return errNotOffered("HeaderName", strings.ToLower(name))
		}
	}
	for _, name := range parametersNotOffered {
		if c.Query.Has(name) {
			return errNotOffered("QueryParameterName", name)
		}
	}
	for _, name := range headersIgnored {
		if v := c.R.Header.Get(name); v != "" && !strings.EqualFold(v, asEverybody[name]) {
			c.front.server.warnIgnored(strings.ToLower(name))
		}
	}
	return nil
}

// warnIgnored tells once of a header that has no effect.
func (s *Server) warnIgnored(name string) {
	if _, told := s.ignored.LoadOrStore(name, true); !told {
		s.opts.Logger.Warn().Str("component", "blob rest").Str("header", name).Msg("the header has no effect here")
	}
}

// errNotOffered is the answer to a request for a feature that this service does not
// have; it names the part that asked for it.
func errNotOffered(kind, name string) *Error {
	e := blobError(storage.NewError(storage.CodeNotImplemented))
	e.Message = "the feature of " + name + " is not offered here"
	e.Details = append(e.Details, Detail{kind, name})
	return e
}
