package rest

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/storage"
)

// sesVersion is the first version whose signatures name an encryption scope.
const sesVersion = "2020-12-06"

// sasFields are the parameters that belong to a shared access signature.
var sasFields = []string{
	"sig", "sv", "sp", "st", "se", "sip", "spr", "ss", "srt", "sr", "si", "ses", "rscc", "rscd", "rsce", "rscl", "rsct",
	"skoid", "sktid", "skt", "ske", "sks", "skv", "saoid", "suoid", "scid", "skdutid", "sduoid", "srh", "srq",
}

// sas is the shared access signature of an address: the fields that say what it allows, to
// whom and how long.
type sas struct{ url.Values }

// Signature is what the parameters of the request sign, if they do.
func (c *Call) Signature() sas { return sas{c.Query.Values} }

// field returns a field. A plus sign that was not escaped arrives as a blank; signatures
// have no blanks.
func (s sas) field(name string) string {
	v := s.Get(name)
	if name == "sig" {
		v = strings.ReplaceAll(v, " ", "+")
	}
	return v
}

func (s sas) Fields(names ...string) (out []string) {
	for _, name := range names {
		out = append(out, s.field(name))
	}
	return out
}

// bySignature checks a shared access signature: of the account, when it
// says for which services it is, else of the service.
//
// Source: docs, Create an account SAS, Create a service SAS; what is answered
// when, Azurite: AccountSASAuthenticator.ts, QueueSASAuthenticator.ts.
func bySignature(c *Call) (access, *Error) {
	for _, name := range sasFields {
		if len(c.Query.Values[name]) > 1 {
			return access{}, errAuthentication("The field " + name + " of the signature is given twice.")
		}
	}
	if c.Signature().field("sv") == "" {
		return access{}, errAuthentication("The signature has no version (sv).")
	}
	if c.Query.Has("ss") || c.Query.Has("srt") {
		return byAccountSAS(c)
	}
	if c.Query.Has("skoid") {
		return byDelegation(c)
	}
	return byServiceSAS(c)
}

func byAccountSAS(c *Call) (access, *Error) {
	signature := c.Signature()
	if text := signature.accountText(c.Account.Name); !c.Account.signed(signature.field("sig"), text) {
		return access{}, errAuthentication("The signature does not match the string to sign: " + strconv.Quote(text))
	}
	terms := storage.AccessPolicy{Permission: signature.field("sp")}
	if err := checkTerms(c, &terms); err != nil {
		return access{}, err
	}
	switch {
	case !strings.Contains(signature.field("ss"), string(c.front.service.Letter)):
		return access{}, ErrNotAuthorized("Service", "service")
	case !strings.ContainsAny(signature.field("srt"), c.op.Resource):
		return access{}, ErrNotAuthorized("ResourceType", "resource type")
	case !strings.ContainsAny(terms.Permission, c.op.AccountSAS):
		return access{}, ErrNotAuthorized("Permission", "permission")
	}
	return access{letters: &terms.Permission}, nil
}

// accountText returns the string to sign of an account signature.
func (s sas) accountText(account string) string {
	lines := append([]string{account}, s.Fields("sp", "ss", "srt", "st", "se", "sip", "spr", "sv")...)
	if s.field("sv") >= sesVersion {
		lines = append(lines, s.field("ses"))
	}
	return strings.Join(lines, "\n") + "\n"
}

func byServiceSAS(c *Call) (access, *Error) {
	sv, signature := c.front.service, c.Signature()
	if len(c.Path) == 0 {
		return access{}, errAuthentication("A service signature is for one resource, and the address names none.")
	}
	if text := sv.ServiceSAS(c); !c.Account.signed(signature.field("sig"), text) {
		return access{}, errAuthentication("The signature does not match the string to sign: " + strconv.Quote(text))
	}
	if sv.SASKind != nil {
		if err := sv.SASKind(c); err != nil {
			return access{}, err
		}
	}
	var terms storage.AccessPolicy
	if id := signature.field("si"); id != "" {
		err := c.Inside(func(ctx context.Context) error {
			policy, err := sv.Policy(ctx, c, id)
			if policy != nil {
				terms = *policy
			}
			return err
		})
		if err != nil && !errors.Is(err, bindings.ErrNotFound) {
			return access{}, c.failure(err)
		}
		if terms.ID == "" {
			return access{}, errAuthentication("The signature names a stored access policy that does not exist: " + strconv.Quote(id))
		}
	}
	if sp := signature.field("sp"); sp != "" {
		if terms.Permission != "" {
			return access{}, errGivenTwice("sp")
		}
		terms.Permission = sp
	}
	if err := checkTerms(c, &terms); err != nil {
		return access{}, err
	}
	if !strings.ContainsAny(terms.Permission, c.op.ServiceSAS) {
		return access{}, ErrNotAuthorized("Permission", "permission")
	}
	return access{letters: &terms.Permission, overrides: true}, nil
}

func errGivenTwice(field string) *Error {
	return errAuthentication("The field " + field + " is given by both the signature and its stored access policy.")
}

// times adds the times of the signature to its terms.
func (s sas) times(terms *storage.AccessPolicy) *Error {
	for _, f := range []struct {
		name string
		to   *time.Time
	}{{"st", &terms.Start}, {"se", &terms.Expiry}} {
		text := s.field(f.name)
		if text == "" {
			continue
		}
		if !f.to.IsZero() {
			return errGivenTwice(f.name)
		}
		at, ok := parseSASTime(text)
		if !ok {
			return errAuthentication("The field " + f.name + " of the signature is not a time: " + strconv.Quote(text))
		}
		*f.to = at
	}
	return nil
}

// parseSASTime reads the forms of ISO 8601 that signatures and policies may use.
func parseSASTime(text string) (time.Time, bool) {
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04Z07:00", time.DateOnly} {
		if at, err := time.Parse(layout, text); err == nil {
			return at.UTC(), true
		}
	}
	return time.Time{}, false
}

// checkTerms checks what holds for all kinds of signatures, with the times of this one.
func checkTerms(c *Call, terms *storage.AccessPolicy) *Error {
	signature, now := c.Signature(), present(c)
	if err := signature.times(terms); err != nil {
		return err
	}
	switch {
	case terms.Expiry.IsZero():
		return errAuthentication("The signature does not say when it expires.")
	case !now.Before(terms.Expiry):
		return errAuthentication("The signature has expired: it was good until " + terms.Expiry.Format(time.RFC3339) + ".")
	case now.Before(terms.Start):
		return errAuthentication("The signature is not good before " + terms.Start.Format(time.RFC3339) + ".")
	}
	spr := strings.ToLower(signature.field("spr"))
	if spr != "" && spr != "https" && spr != "https,http" {
		return errAuthentication("The field spr of the signature is neither https nor https,http: " + strconv.Quote(spr))
	}
	if ip := signature.field("sip"); ip != "" && !inRange(c.R.RemoteAddr, ip) {
		return ErrNotAuthorized("SourceIP", "source IP")
	}
	if spr == "https" && c.front.scheme() != "https" {
		return ErrNotAuthorized("Protocol", "protocol")
	}
	return nil
}

// inRange reports whether a remote address lies in the range: one address, or
// two with all between them.
func inRange(remote, ips string) bool {
	host, _, err := net.SplitHostPort(remote)
	if err != nil {
		return false
	}
	addr, err := netip.ParseAddr(host)
	if err != nil {
		return false
	}
	addr = addr.Unmap().WithZone("")
	from, to, isRange := strings.Cut(ips, "-")
	if !isRange {
		to = from
	}
	least, err1 := netip.ParseAddr(from)
	most, err2 := netip.ParseAddr(to)
	return err1 == nil && err2 == nil && least.Compare(addr) <= 0 && addr.Compare(most) <= 0
}
