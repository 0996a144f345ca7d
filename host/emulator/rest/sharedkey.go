package rest

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// maxSkew is how far a date may be off under Options.StrictDates (docs:
// Authorize with Shared Key, "Specifying the Date header").
const maxSkew = 15 * time.Minute

// signed reports whether signature, in base64, signs text with one of the account's
// keys.
func (a *Stored) signed(signature, text string) bool {
	for _, key := range a.keys {
		if hmac.Equal([]byte(signatureOf(key, text)), []byte(signature)) {
			return true
		}
	}
	return false
}

func signatureOf(key []byte, text string) string {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(text))
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// byKey checks an Authorization header of the schemes SharedKey and
// SharedKeyLite.
func byKey(c *Call, scheme, credential string) *Error {
	name, signature, ok := strings.Cut(credential, ":")
	if !ok {
		return errAuthenticationInfo()
	}
	if name != c.Account.Name {
		return errAuthentication("The account of the Authorization header is not the account of the address.")
	}
	if c.front.server.opts.StrictDates {
		if err := checkDate(c); err != nil {
			return err
		}
	}
	texts := signedTexts
	if own := c.front.service.KeyTexts; own != nil {
		texts = own
	}
	documented := ""
	for text := range texts(c, scheme) {
		if c.Account.signed(signature, text) {
			return nil
		}
		if documented == "" {
			documented = text
		}
	}
	return errAuthentication("The signature does not match the string to sign: " + strconv.Quote(documented))
}

// signedTexts yields the strings that a signature may sign, the documented one first.
func signedTexts(c *Call, scheme string) iter.Seq[string] {
	text := sharedKeyText
	if scheme == "SharedKeyLite" {
		text = sharedKeyLiteText
	}
	return func(yield func(string) bool) {
		paths, lengths := SignedPaths(c), signedLengths(c.R)
		for _, order := range []func(a, b string) int{strings.Compare, compareNames} {
			headers := signedHeaders(c.R.Header, order)
			for _, path := range paths {
				for _, length := range lengths {
					if !yield(text(c.R, headers, c.Account.Name, path, length)) {
						return
					}
				}
			}
		}
	}
}

func errAuthenticationInfo() *Error {
	return NewError(http.StatusBadRequest, "InvalidAuthenticationInfo",
		"Authentication information is not given in the correct format. Check the value of Authorization header.")
}

func checkDate(c *Call) *Error {
	text := c.R.Header.Get("X-Ms-Date")
	if text == "" {
		text = c.R.Header.Get("Date")
	}
	at, err := http.ParseTime(text)
	if err != nil {
		return errAuthentication("The date of the request is missing or not in the format of RFC 1123: " + strconv.Quote(text))
	}
	if c.Now().Sub(at).Abs() > maxSkew && present(c).Sub(at).Abs() > maxSkew {
		return errAuthentication("The date of the request is more than 15 minutes off.")
	}
	return nil
}

// SignedPaths returns the forms in which clients sign the path, the documented
// one first: as sent, still escaped. Some sign it decoded. The secondary's
// name in it is signed with and without its suffix.
func SignedPaths(c *Call) []string {
	sent := c.R.URL.EscapedPath()
	if p, _, _ := strings.Cut(c.R.RequestURI, "?"); strings.HasPrefix(p, "/") {
		sent = p // to the letter
	}
	if sent == "" {
		sent = "/"
	}
	paths := []string{sent, c.R.URL.Path}
	if c.secondary && !c.inHost {
		for _, p := range paths[:2] {
			primary := strings.Replace(p, c.Account.Name+secondarySuffix, c.Account.Name, 1)
			paths = append(paths, primary)
		}
	}
	slices.Sort(paths[1:])
	return slices.Compact(paths)
}

// signedLengths returns the forms of the length of an empty body: empty, and 0
// as versions before 2015-02-21 had it.
func signedLengths(r *http.Request) []string {
	switch {
	case r.ContentLength > 0:
		return []string{strconv.FormatInt(r.ContentLength, 10)}
	case r.ContentLength == 0 && r.Header.Get("X-Ms-Version") < "2015-02-21":
		return []string{"", "0"}
	}
	return []string{""}
}

// sharedKeyText returns the string to sign of scheme SharedKey.
//
// Source: docs, Authorize with Shared Key (version 2015-02-21 and later).
func sharedKeyText(r *http.Request, headers []signedHeader, account, path, length string) string {
	var b strings.Builder
	line := func(s string) {
		b.WriteString(s)
		b.WriteByte('\n')
	}
	header := func(name string) { line(strings.Join(r.Header.Values(name), ",")) }
	line(r.Method)
	header("Content-Encoding")
	header("Content-Language")
	line(length)
	header("Content-Md5")
	header("Content-Type")
	line(signedDate(r))
	header("If-Modified-Since")
	header("If-Match")
	header("If-None-Match")
	header("If-Unmodified-Since")
	header("Range")
	writeSignedHeaders(&b, headers)
	b.WriteByte('/')
	b.WriteString(account)
	b.WriteString(path)
	writeSignedQuery(&b, r.URL.RawQuery)
	return b.String()
}

// sharedKeyLiteText returns the string to sign of scheme SharedKeyLite.
func sharedKeyLiteText(r *http.Request, headers []signedHeader, account, path, _ string) string {
	var b strings.Builder
	for _, s := range []string{r.Method, r.Header.Get("Content-Md5"), r.Header.Get("Content-Type"), signedDate(r)} {
		b.WriteString(s)
		b.WriteByte('\n')
	}
	writeSignedHeaders(&b, headers)
	b.WriteByte('/')
	b.WriteString(account)
	b.WriteString(path)
	if comp := r.URL.Query().Get("comp"); comp != "" {
		b.WriteString("?comp=")
		b.WriteString(comp)
	}
	return b.String()
}

// signedDate is empty when x-ms-date is sent, which is signed among the headers.
func signedDate(r *http.Request) string {
	if r.Header.Get("X-Ms-Date") != "" {
		return ""
	}
	return r.Header.Get("Date")
}

// signedHeader is one of the x-ms- headers, which are signed all.
type signedHeader struct{ name, value string }

// signedHeaders returns the signed headers in the order of their names. Clients
// have two: of bytes, and compareNames.
func signedHeaders(h http.Header, order func(a, b string) int) []signedHeader {
	var signed []signedHeader
	for name, values := range h {
		if !hasPrefixFold(name, "x-ms-") {
			continue
		}
		trimmed := make([]string, len(values))
		for i, v := range values {
			trimmed[i] = strings.TrimSpace(v)
		}
		signed = append(signed, signedHeader{strings.ToLower(name), strings.Join(trimmed, ",")})
	}
	slices.SortFunc(signed, func(a, b signedHeader) int { return order(a.name, b.name) })
	return signed
}

// compareNames compares lower-case header names as the service does: by
// characters in the order of nameOrder, in which a_1 comes before a1; hyphens
// count only if nothing else differs.
//
// Source: the SDKs for JavaScript (SharedKeyComparator) and Python
// (_storage_header_sort), which imitate the service.
func compareNames(a, b string) int {
	weights := func(s string) []byte {
		out := make([]byte, 0, len(s))
		for i := range len(s) {
			if s[i] != '-' {
				out = append(out, byte(strings.IndexByte(nameOrder, s[i])+1))
			}
		}
		return out
	}
	return cmp.Or(slices.Compare(weights(a), weights(b)), cmp.Compare(len(a), len(b)), strings.Compare(b, a))
}

const nameOrder = "!#$%&*.^_`|~+0123456789abcdefghijklmnopqrstuvwxyz"

func writeSignedHeaders(b *strings.Builder, headers []signedHeader) {
	for _, h := range headers {
		b.WriteString(h.name)
		b.WriteByte(':')
		b.WriteString(h.value)
		b.WriteByte('\n')
	}
}

func writeSignedQuery(b *strings.Builder, raw string) {
	if raw == "" {
		return
	}
	parsed, _ := parseQuery(raw) // checked before; what can be read is signed
	lower := make(url.Values, len(parsed))
	for name, values := range parsed {
		n := strings.ToLower(name)
		lower[n] = append(lower[n], values...)
	}
	names := make([]string, 0, len(lower))
	for name := range lower {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		values := lower[name]
		slices.Sort(values)
		b.WriteByte('\n')
		b.WriteString(name)
		b.WriteByte(':')
		b.WriteString(strings.Join(values, ","))
	}
}
