// Package identity says who a caller of an HTTP function is, as the platform's host tells
// its handlers. Left out: users who have signed in, whom only the cloud knows.
package identity

import "github.com/redeliver/redeliver/bindings"

// What .NET calls the claims for name and role, in every identity.
const (
	NameType = "http://schemas.xmlsoap.org/ws/2005/05/identity/claims/name"
	RoleType = "http://schemas.microsoft.com/ws/2008/06/identity/claims/role"
)

// A Claim is one that an identity makes.
type Claim struct{ Type, Value string }

// Of is the identity of a caller: how it was proven, and its claims. Without a key it has
// neither (host: AuthenticationLevelHandler.cs; observed of 4.1037).
func Of(key bindings.HTTPKey) (proof string, claims []Claim) {
	if key.Level == "" {
		return "", nil
	}
	const types = "http://schemas.microsoft.com/2017/07/functions/claims/"
	return "WebJobsAuthLevel", []Claim{{types + "authlevel", key.Level}, {types + "invoke", "true"}, {types + "keyid", key.Name}}
}
