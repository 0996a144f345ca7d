package rest

import (
	"context"
	"errors"
	"net"
	"net/netip"
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

// sas returns a field of a shared access signature. A plus sign that was not
// escaped arrives as a blank; signatures have no blanks.
func (c *call) sas(name string) string {
	v := c.query.Get(name)
	if name == "sig" {
		v = strings.ReplaceAll(v, " ", "+")
	}
	return v
}

// authorizeBySignature checks a shared access signature: of the account, when it
// says for which services it is, else of the service.
//
// Source: docs, Create an account SAS, Create a service SAS; what is answered
// when, Azurite: AccountSASAuthenticator.ts, QueueSASAuthenticator.ts.
func (c *call) authorizeBySignature() *Error {
	for _, name := range sasFields {
		if len(c.query[name]) > 1 {
			return errAuthentication("The field " + name + " of the signature is given twice.")
		}
	}
	if c.sas("sv") == "" {
		return errAuthentication("The signature has no version (sv).")
	}
	if c.query.Has("ss") || c.query.Has("srt") {
		return c.authorizeByAccountSAS()
	}
	if c.query.Has("skoid") {
		return c.authorizeByDelegation()
	}
	return c.authorizeByServiceSAS()
}

func (c *call) authorizeByAccountSAS() *Error {
	if text := accountSASText(c.account.Name, c.sas); !c.account.signed(c.sas("sig"), text) {
		return errAuthentication("The signature does not match the string to sign: " + strconv.Quote(text))
	}
	terms := storage.AccessPolicy{Permission: c.sas("sp")}
	if err := c.sasTimes(&terms); err != nil {
		return err
	}
	if err := c.checkTerms(&terms); err != nil {
		return err
	}
	switch {
	case !strings.Contains(c.sas("ss"), string(c.front.service.letter)):
		return errNotAuthorized("Service", "service")
	case !strings.ContainsAny(c.sas("srt"), c.op.resource):
		return errNotAuthorized("ResourceType", "resource type")
	case !strings.ContainsAny(terms.Permission, c.op.accountSAS):
		return errNotAuthorized("Permission", "permission")
	}
	c.allowed = &terms.Permission
	return nil
}

// accountSASText returns the string to sign of an account signature.
func accountSASText(account string, field func(string) string) string {
	lines := []string{account}
	for _, name := range []string{"sp", "ss", "srt", "st", "se", "sip", "spr", "sv"} {
		lines = append(lines, field(name))
	}
	if field("sv") >= sesVersion {
		lines = append(lines, field("ses"))
	}
	return strings.Join(lines, "\n") + "\n"
}

func (c *call) authorizeByServiceSAS() *Error {
	sv := c.front.service
	if len(c.path) == 0 {
		return errAuthentication("A service signature is for one resource, and the address names none.")
	}
	if text := sv.serviceSAS(c); !c.account.signed(c.sas("sig"), text) {
		return errAuthentication("The signature does not match the string to sign: " + strconv.Quote(text))
	}
	if sv.sasKind != nil {
		if err := sv.sasKind(c); err != nil {
			return err
		}
	}
	c.overrides = true
	var terms storage.AccessPolicy
	if id := c.sas("si"); id != "" {
		err := c.inside(func(ctx context.Context) error {
			policy, err := sv.policy(ctx, c, id)
			if policy != nil {
				terms = *policy
			}
			return err
		})
		if err != nil && !errors.Is(err, bindings.ErrNotFound) {
			return asError(err)
		}
		if terms.ID == "" {
			return errAuthentication("The signature names a stored access policy that does not exist: " + strconv.Quote(id))
		}
	}
	if sp := c.sas("sp"); sp != "" {
		if terms.Permission != "" {
			return errGivenTwice("sp")
		}
		terms.Permission = sp
	}
	if err := c.sasTimes(&terms); err != nil {
		return err
	}
	if err := c.checkTerms(&terms); err != nil {
		return err
	}
	if !strings.ContainsAny(terms.Permission, c.op.serviceSAS) {
		return errNotAuthorized("Permission", "permission")
	}
	c.allowed = &terms.Permission
	return nil
}

func errGivenTwice(field string) *Error {
	return errAuthentication("The field " + field + " is given by both the signature and its stored access policy.")
}

// sasTimes adds the times of the signature to its terms.
func (c *call) sasTimes(terms *storage.AccessPolicy) *Error {
	for _, f := range []struct {
		name string
		to   *time.Time
	}{{"st", &terms.Start}, {"se", &terms.Expiry}} {
		text := c.sas(f.name)
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

// checkTerms checks what holds for both kinds of signatures.
func (c *call) checkTerms(terms *storage.AccessPolicy) *Error {
	now := c.front.clk.Now()
	switch {
	case terms.Expiry.IsZero():
		return errAuthentication("The signature does not say when it expires.")
	case !now.Before(terms.Expiry):
		return errAuthentication("The signature has expired: it was good until " + terms.Expiry.Format(time.RFC3339) + ".")
	case now.Before(terms.Start):
		return errAuthentication("The signature is not good before " + terms.Start.Format(time.RFC3339) + ".")
	}
	spr := strings.ToLower(c.sas("spr"))
	if spr != "" && spr != "https" && spr != "https,http" {
		return errAuthentication("The field spr of the signature is neither https nor https,http: " + strconv.Quote(spr))
	}
	if ip := c.sas("sip"); ip != "" && !inRange(c.r.RemoteAddr, ip) {
		return errNotAuthorized("SourceIP", "source IP")
	}
	if spr == "https" && c.front.scheme() != "https" {
		return errNotAuthorized("Protocol", "protocol")
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
