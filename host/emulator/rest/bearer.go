package rest

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// claims are the claims of a bearer token. Its signature cannot be checked
// here: it is believed over TLS, except for visible faults. Storage takes JSON
// Web Tokens only.
type claims struct {
	Audience string  `json:"aud"`
	Issuer   string  `json:"iss"`
	Object   string  `json:"oid"`
	Tenant   string  `json:"tid"`
	After    float64 `json:"nbf"`
	Until    float64 `json:"exp"`
}

// issuers are the prefixes of the names of issuers of tokens for storage accounts
// (Azurite: VALID_ISSUE_PREFIXES; docs: Microsoft Entra ID, access tokens, for
// version 2.0).
var issuers = []string{
	"https://sts.windows.net/", "https://sts.microsoftonline.de/", "https://sts.chinacloudapi.cn/", "https://sts.windows-ppe.net/",
	"https://login.microsoftonline.com/", "https://login.microsoftonline.us/", "https://login.chinacloudapi.cn/", "https://login.partner.microsoftonline.cn/",
}

// audiences are valid for all storage accounts: the resource, and its application.
var audiences = []string{"https://storage.azure.com", "e406a681-f3d4-42a8-90b6-c2b029497af1"}

// byToken believes a token over TLS. It has to be for storage, if it names
// an audience, and from a known issuer; under Options.StrictDates it has to be good
// now.
//
// Source: Azurite, BlobTokenAuthenticator.authenticateBasic.
func byToken(c *Call, token string) (access, *Error) {
	if c.front.server.opts.TLS == nil {
		return access{}, errAuthentication("A bearer token is taken over HTTPS only.")
	}
	t, ok := parseToken(token)
	if !ok {
		return access{}, errAuthentication("The bearer token is no JSON Web Token.")
	}
	if t.Issuer != "" && !slices.ContainsFunc(issuers, func(i string) bool { return strings.HasPrefix(t.Issuer, i) }) {
		return access{}, errAuthentication("Invalid token issuer.")
	}
	own := "https://" + c.Account.Name + "." + c.front.service.Name + ".core."
	audience := strings.TrimSuffix(t.Audience, "/")
	if audience != "" && !slices.Contains(audiences, audience) && !strings.HasPrefix(audience, own) {
		return access{}, errAuthentication("Invalid token audience.")
	}
	if c.front.server.opts.StrictDates {
		now := float64(present(c).UnixNano()) / float64(time.Second)
		if now < t.After {
			return access{}, errAuthentication("Lifetime validation failed.")
		}
		if t.Until != 0 && now > t.Until {
			return access{}, errAuthentication("Lifetime validation failed. The token is expired.")
		}
	}
	return access{claims: t}, nil
}

// parseToken reads the claims of a JSON Web Token.
func parseToken(token string) (claims, bool) {
	var c claims
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return c, false
	}
	text, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(parts[1], "="))
	if err != nil || json.Unmarshal(text, &c) != nil {
		return claims{}, false
	}
	return c, true
}
