package rest

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/redeliver/redeliver/bindings/storage"
	"github.com/redeliver/redeliver/host/listen"
)

// corsRules returns the service's rules, in the order in which they are tried.
func (c *Call) corsRules() ([]storage.CORSRule, error) {
	var rules []storage.CORSRule
	err := c.Inside(func(ctx context.Context) error {
		p, err := c.front.service.Properties(ctx, c.Account)
		if err == nil && p.CORS != nil {
			rules = *p.CORS
		}
		return err
	})
	return rules, err
}

// preflight answers an OPTIONS request. It needs no authorization.
//
// Source: docs, Preflight Queue Request; Azurite: PreflightMiddlewareFactory.ts.
func (c *Call) preflight() error {
	origin := c.R.Header.Get("Origin")
	method := c.R.Header.Get("Access-Control-Request-Method")
	for _, name := range []string{"Origin", "Access-Control-Request-Method"} {
		if c.R.Header.Get(name) == "" {
			return NewError(http.StatusBadRequest, "InvalidHeaderValue", "A required CORS header is not present.", "HeaderName", name)
		}
	}
	asked := c.R.Header.Get("Access-Control-Request-Headers")
	rules, err := c.corsRules()
	if err != nil {
		return err
	}
	for _, rule := range rules {
		if !originListed(rule.AllowedOrigins, origin) || !listed(rule.AllowedMethods, method) || !allListed(rule.AllowedHeaders, asked) {
			continue
		}
		h := c.W.Header()
		h.Set("Access-Control-Allow-Origin", origin)
		h.Set("Access-Control-Allow-Methods", method)
		if asked != "" {
			h.Set("Access-Control-Allow-Headers", asked)
		}
		h.Set("Access-Control-Max-Age", strconv.Itoa(rule.MaxAge))
		h.Set("Access-Control-Allow-Credentials", "true")
		return c.Answer(http.StatusOK, nil)
	}
	return NewError(http.StatusForbidden, "CorsPreflightFailure", "CORS not enabled or no matching rule found for this request.")
}

// guard checks requests of browsers.
func (c *Call) guard() *listen.Guard { return c.front.server.opts.Guard }

// notTaken is the answer to a request that the guard refuses. The service in the
// cloud runs what pages of any origin ask for and keeps the answer from them; the
// keys of an emulator are public, so that this would do everything that a page
// likes.
func notTaken(err error) *Error {
	return NewError(http.StatusForbidden, "AuthorizationFailure", "This request is not authorized to perform this operation.", "Reason", err.Error())
}

// admitPage refuses requests of pages of other origins that no CORS rule
// and no guard takes, and sets the headers by which other pages may read
// any answer.
func (c *Call) admitPage() error {
	origin := c.R.Header.Get("Origin")
	if origin == "" && !listen.Foreign(c.R) {
		return nil
	}
	rules, err := c.corsRules()
	if err != nil {
		return err
	}
	if origin == "" && c.front.service.Letter == 'b' && (c.R.Method == http.MethodGet || c.R.Method == http.MethodHead) {
		// A blob that a page shows, as an image or a download. To read it changes nothing,
		// which is not so for messages.
		page := listen.Referrer(c.R)
		if _, ok := matching(rules, page, c.R.Method); ok || c.guard().AllowsReferrer(page) {
			return nil
		}
	}
	rule, ok := matching(rules, origin, c.R.Method)
	if err := c.guard().CheckOrigin(c.R, func(string) bool { return ok }); err != nil {
		c.W.Header().Set("Vary", "Origin")
		return notTaken(err)
	}
	c.shareWithOrigin(origin, rule, ok, len(rules) > 0)
	return nil
}

// matching returns the first rule for an origin and a method.
func matching(rules []storage.CORSRule, origin, method string) (rule storage.CORSRule, ok bool) {
	for _, rule := range rules {
		if originListed(rule.AllowedOrigins, origin) && listed(rule.AllowedMethods, method) {
			return rule, true
		}
	}
	return rule, false
}

// shareWithOrigin sets the headers by which a page of another origin may read the
// answer, if there is a rule for it.
func (c *Call) shareWithOrigin(origin string, rule storage.CORSRule, matches, any bool) {
	h := c.W.Header()
	switch {
	case !matches && any:
		h.Set("Vary", "Origin")
	case !matches:
	case rule.AllowedOrigins == "*":
		h.Set("Access-Control-Allow-Origin", "*")
		c.W = &exposing{ResponseWriter: c.W, rule: rule.ExposedHeaders}
	default:
		h.Set("Access-Control-Allow-Origin", origin)
		h.Set("Access-Control-Allow-Credentials", "true")
		h.Set("Vary", "Origin")
		c.W = &exposing{ResponseWriter: c.W, rule: rule.ExposedHeaders}
	}
}

// exposing names the headers that a page may read, once all are known.
type exposing struct {
	http.ResponseWriter
	rule string
	done bool
}

// Unwrap is for http.ResponseController.
func (e *exposing) Unwrap() http.ResponseWriter { return e.ResponseWriter }

func (e *exposing) WriteHeader(status int) {
	if !e.done {
		e.done = true
		if names := exposed(e.rule, e.Header()); len(names) > 0 {
			e.Header().Set("Access-Control-Expose-Headers", strings.Join(names, ","))
		}
	}
	e.ResponseWriter.WriteHeader(status)
}

func (e *exposing) Write(p []byte) (int, error) {
	if !e.done {
		e.WriteHeader(http.StatusOK)
	}
	return e.ResponseWriter.Write(p)
}

// exposed returns the names that a rule lists and those it has by a prefix.
func exposed(rule string, h http.Header) []string {
	var names []string
	for item := range strings.SplitSeq(rule, ",") {
		item = strings.TrimSpace(item)
		prefix, wild := strings.CutSuffix(item, "*")
		if !wild {
			if item != "" {
				names = append(names, item)
			}
			continue
		}
		for name := range h {
			if hasPrefixFold(name, prefix) {
				names = append(names, strings.ToLower(name))
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// listed reports whether a list of a rule has the value, in any case.
func listed(list, value string) bool {
	for item := range strings.SplitSeq(list, ",") {
		if item = strings.TrimSpace(item); item == "*" || strings.EqualFold(item, strings.TrimSpace(value)) {
			return true
		}
	}
	return false
}

// originListed is listed for origins, which may have "*" for what comes before a
// domain: "https://*.example.com" or "*.example.com".
//
// Source: docs, Cross-Origin Resource Sharing support, "AllowedOrigins".
func originListed(list, origin string) bool {
	if listed(list, origin) {
		return true
	}
	for item := range strings.SplitSeq(list, ",") {
		scheme, domain, ok := strings.Cut(strings.TrimSpace(item), "*.")
		if !ok || domain == "" || scheme != "" && !hasPrefixFold(origin, scheme) {
			continue
		}
		host := origin[len(scheme):]
		if _, rest, ok := strings.Cut(host, "://"); ok {
			host = rest
		}
		if n := len(host) - len(domain) - 1; n > 0 && strings.EqualFold(host[n:], "."+domain) && !strings.ContainsAny(host[:n], "/@:") {
			return true
		}
	}
	return false
}

// allListed reports whether a list of a rule has every one of the headers
// asked for, by name or by prefix.
func allListed(list, asked string) bool {
	for header := range strings.SplitSeq(asked, ",") {
		header = strings.TrimSpace(header)
		if header == "" {
			continue
		}
		found := slices.ContainsFunc(strings.Split(list, ","), func(item string) bool {
			item = strings.TrimSpace(item)
			prefix, wild := strings.CutSuffix(item, "*")
			return strings.EqualFold(item, header) || wild && hasPrefixFold(header, prefix)
		})
		if !found {
			return false
		}
	}
	return true
}

func hasPrefixFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}
