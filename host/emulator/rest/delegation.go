package rest

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/xml"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/redeliver/redeliver/bindings/storage"
)

// A user delegation key is made for the owner of a token, and signs for
// requests in that name for at most seven days. It follows from the
// account's key and what it says of itself: there is nothing to keep.

const (
	maxDelegation = 7 * 24 * time.Hour
	nobody        = "00000000-0000-0000-0000-000000000000" // of a token that does not say

	// wireSeconds is the form of the times of a key.
	wireSeconds = "2006-01-02T15:04:05Z"
)

// delegationFields are the fields of a signature that name its key.
var delegationFields = []string{"skoid", "sktid", "skt", "ske", "sks", "skv"}

// delegationKey is the key with these fields, out of a key of the account.
func delegationKey(account []byte, field func(string) string) []byte {
	mac := hmac.New(sha256.New, account)
	mac.Write([]byte("user delegation key"))
	for _, name := range delegationFields {
		mac.Write([]byte("\n" + field(name)))
	}
	return mac.Sum(nil)
}

// getDelegationKey serves Get User Delegation Key.
//
// Source: docs, Get User Delegation Key.
func getDelegationKey(c *Call) error {
	if len(c.Account.keys) == 0 {
		return storage.NewError(storage.CodeNotImplemented)
	}
	b, err := c.Body(MaxDocument)
	if err != nil {
		return err
	}
	var info struct {
		XMLName xml.Name `xml:"KeyInfo"`
		Start   string
		Expiry  string
	}
	if refused := decodeXML(b, &info); refused != nil {
		return refused
	}
	now := present(c)
	start, ok := now, true
	if info.Start != "" {
		start, ok = parseSASTime(info.Start)
	}
	if !ok {
		return errXMLNode("Start", info.Start)
	}
	expiry, ok := parseSASTime(info.Expiry)
	if !ok || !expiry.After(start) || expiry.Sub(now) > maxDelegation { // one that has ended signs for nothing
		return errXMLNode("Expiry", info.Expiry)
	}
	version := c.W.Header().Get("X-Ms-Version")
	fields := map[string]string{
		"skoid": orNobody(c.access.claims.Object), "sktid": orNobody(c.access.claims.Tenant), "sks": string(c.front.service.Letter), "skv": version,
		"skt": start.UTC().Format(wireSeconds), "ske": expiry.UTC().Format(wireSeconds),
	}
	key := delegationKey(c.Account.keys[0], func(name string) string { return fields[name] })
	out := []byte(XMLHeader + "<UserDelegationKey>")
	for i, name := range []string{"SignedOid", "SignedTid", "SignedStart", "SignedExpiry", "SignedService", "SignedVersion"} {
		out = AppendElement(out, name, fields[delegationFields[i]])
	}
	out = AppendElement(out, "Value", base64.StdEncoding.EncodeToString(key))
	return c.Answer(http.StatusOK, append(out, "</UserDelegationKey>"...))
}

func orNobody(id string) string {
	if id == "" {
		return nobody
	}
	return id
}

// byDelegation checks a signature by a user delegation key. The rights of
// its owner are not known here: only the signature limits it.
//
// Source: docs, Create a user delegation SAS.
func byDelegation(c *Call) (access, *Error) {
	signature := c.Signature()
	if c.front.service.Letter != 'b' || len(c.Path) == 0 {
		return access{}, errAuthentication("A user delegation signature is for a container or a blob.")
	}
	if signature.field("si") != "" {
		return access{}, errAuthentication("A user delegation signature has no stored access policy.")
	}
	texts := signature.delegationTexts(c.Account.Name, c.Path, c.R.Header)
	signed := false
	for _, key := range c.Account.keys {
		key = delegationKey(key, signature.field)
		for _, text := range texts {
			signed = signed || hmac.Equal([]byte(signatureOf(key, text)), []byte(signature.field("sig")))
		}
	}
	if !signed {
		return access{}, errAuthentication("The signature does not match the string to sign: " + strconv.Quote(texts[0]))
	}
	if refused := blobSASKind(c); refused != nil {
		return access{}, refused
	}
	now := present(c)
	from, ok := parseSASTime(signature.field("skt"))
	until, ok2 := parseSASTime(signature.field("ske"))
	if !ok || !ok2 || now.Before(from) || !now.Before(until) || signature.field("sks") != "b" {
		return access{}, errAuthentication("The user delegation key is not good now, or not for blobs.")
	}
	terms := storage.AccessPolicy{Permission: signature.field("sp")}
	if err := checkTerms(c, &terms); err != nil {
		return access{}, err
	}
	if !strings.ContainsAny(terms.Permission, c.op.ServiceSAS) {
		return access{}, ErrNotAuthorized("Permission", "permission")
	}
	return access{letters: &terms.Permission, overrides: true}, nil
}

// delegationTexts returns the strings to sign by the versions of the signature: the
// latest have two fields more, the last ones another two (SDK for Go: sas/service.go).
func (s sas) delegationTexts(account string, path []string, header http.Header) []string {
	version, kind, snapshot := s.field("sv"), s.field("sr"), ""
	of := "/blob/" + account + "/" + path[0]
	if kind != "c" && len(path) > 1 {
		of += "/" + path[1]
	}
	if kind == "bs" {
		snapshot = s.Get("snapshot")
	}
	text := func(who, wire bool) string {
		lines := append(s.Fields("sp", "st", "se"), of)
		lines = append(lines, s.Fields(delegationFields...)...)
		if version >= "2020-02-10" {
			lines = append(lines, s.Fields("saoid", "suoid", "scid")...)
		}
		if who {
			lines = append(lines, s.Fields("skdutid", "sduoid")...)
		}
		lines = append(append(lines, s.Fields("sip", "spr", "sv")...), kind, snapshot)
		if version >= sesVersion {
			lines = append(lines, s.field("ses"))
		}
		if wire {
			lines = append(lines, s.signedParts(header)...)
		}
		return strings.Join(append(lines, s.Fields("rscc", "rscd", "rsce", "rscl", "rsct")...), "\n")
	}
	return []string{text(false, false), text(true, false), text(true, true)}
}

// signedParts are the headers and parameters of the request that a signature names.
func (s sas) signedParts(header http.Header) []string {
	headers, parameters := "", ""
	for name := range strings.SplitSeq(s.field("srh"), ",") {
		if name != "" {
			headers += name + ":" + header.Get(name) + "\n"
		}
	}
	for name := range strings.SplitSeq(s.field("srq"), ",") {
		if name != "" {
			parameters += "\n" + name + ":" + s.Get(strings.ToLower(name))
		}
	}
	return []string{headers, parameters}
}
