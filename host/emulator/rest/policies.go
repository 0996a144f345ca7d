package rest

import (
	"encoding/xml"
	"strconv"
	"strings"
	"time"

	"github.com/redeliver/redeliver/bindings/storage"
)

// maxPolicyID is the length of a stored access policy's id.
const maxPolicyID = 64

// policiesXML is the document of stored access policies.
type policiesXML struct {
	XMLName     xml.Name `xml:"SignedIdentifiers"`
	Identifiers []struct {
		ID     string `xml:"Id"`
		Policy struct {
			Start      string
			Expiry     string
			Permission string
		} `xml:"AccessPolicy"`
	} `xml:"SignedIdentifier"`
}

// ParsePolicies reads the body of a Set ACL; letters are the letters that
// permissions may have. An empty body is no policies.
func ParsePolicies(b []byte, letters string) ([]storage.AccessPolicy, *Error) {
	if len(b) == 0 {
		return nil, nil
	}
	var x policiesXML
	if err := decodeXML(b, &x); err != nil {
		return nil, err
	}
	if n := len(x.Identifiers); n > storage.MaxAccessPolicies {
		return nil, ErrInvalidXML("more than " + strconv.Itoa(storage.MaxAccessPolicies) + " access policies: " + strconv.Itoa(n))
	}
	var policies []storage.AccessPolicy
	seen := map[string]bool{}
	for _, i := range x.Identifiers {
		p := storage.AccessPolicy{ID: i.ID, Permission: i.Policy.Permission}
		if p.ID == "" || len(p.ID) > maxPolicyID || seen[p.ID] {
			return nil, ErrInvalidXML("the Id of an access policy must have 1 to 64 characters and be unique: " + strconv.Quote(p.ID))
		}
		seen[p.ID] = true
		if strings.Trim(p.Permission, letters) != "" {
			return nil, ErrInvalidXML("unknown permission in " + strconv.Quote(p.Permission) + ": want letters of " + letters)
		}
		for _, f := range []struct {
			text string
			to   *time.Time
		}{{i.Policy.Start, &p.Start}, {i.Policy.Expiry, &p.Expiry}} {
			if f.text == "" {
				continue
			}
			at, ok := parseSASTime(strings.TrimSpace(f.text))
			if !ok {
				return nil, ErrInvalidXML("not a time: " + strconv.Quote(f.text))
			}
			*f.to = at
		}
		policies = append(policies, p)
	}
	return policies, nil
}

// PoliciesDocument is the answer to a Get ACL.
func PoliciesDocument(policies []storage.AccessPolicy) []byte {
	b := []byte(XMLHeader + "<SignedIdentifiers>")
	for _, p := range policies {
		b = append(b, "<SignedIdentifier>"...)
		b = AppendElement(b, "Id", p.ID)
		if p == (storage.AccessPolicy{ID: p.ID}) { // it says nothing, or it was not sent
			b = append(b, "</SignedIdentifier>"...)
			continue
		}
		b = append(b, "<AccessPolicy>"...)
		for _, f := range []struct {
			name string
			at   time.Time
		}{{"Start", p.Start}, {"Expiry", p.Expiry}} {
			if !f.at.IsZero() {
				b = AppendElement(b, f.name, f.at.UTC().Format("2006-01-02T15:04:05.0000000Z"))
			}
		}
		if p.Permission != "" {
			b = AppendElement(b, "Permission", p.Permission)
		}
		b = append(b, "</AccessPolicy></SignedIdentifier>"...)
	}
	return append(b, "</SignedIdentifiers>"...)
}
