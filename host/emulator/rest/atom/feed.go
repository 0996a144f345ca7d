package atom

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// defaultPage is how many entries a feed has when the client does not say.
const defaultPage = 100

// page is the part of a list that a client asks for.
type page struct{ skip, top int }

func (c *call) page() (page, error) {
	p := page{top: defaultPage}
	query, err := url.ParseQuery(c.r.URL.RawQuery)
	if err != nil {
		return p, fail(http.StatusBadRequest, "the query cannot be read: %v", err)
	}
	for _, e := range []struct {
		name  string
		least int
		to    *int
	}{{"$skip", 0, &p.skip}, {"$top", 1, &p.top}} {
		s := query.Get(e.name)
		if s == "" {
			continue
		}
		n, err := strconv.ParseInt(s, 10, 32)
		if err != nil || int(n) < e.least {
			return p, fail(http.StatusBadRequest, "the value %q of %s is not valid; want a whole number of %d or more", s, e.name, e.least)
		}
		*e.to = int(n)
	}
	return p, nil
}

// list answers with one page of what the administration lists.
func list[T any](c *call, title string, get func(ctx context.Context) ([]T, error), describe func(T) described) error {
	p, err := c.page()
	if err != nil {
		return err
	}
	var all []T
	if err := c.inside(func(ctx context.Context) (err error) { all, err = get(ctx); return err }); err != nil {
		return err
	}
	rest := all[min(p.skip, len(all)):]
	shown := rest[:min(p.top, len(rest))]

	self := c.base() + c.r.URL.EscapedPath()[1:]
	var w writer
	w.open("feed", "xmlns", atomSpace)
	w.field("title", title, "type", "text")
	w.field("id", self+"?"+c.r.URL.RawQuery)
	w.field("updated", wireTime(c.clk.Now().Truncate(time.Second)))
	w.empty("link", "rel", "self", "href", self+"?"+c.r.URL.RawQuery)
	if len(shown) < len(rest) {
		// The Python client takes the second link, and all three values from it.
		next := url.Values{
			"api-version": {c.version()},
			"$skip":       {strconv.Itoa(p.skip + len(shown))},
			"$top":        {strconv.Itoa(p.top)},
		}
		w.empty("link", "rel", "next", "href", self+"?"+next.Encode())
	}
	for _, item := range shown {
		c.entry(&w, describe(item), "xml:base", self)
	}
	w.close("feed")
	return c.answer(http.StatusOK, feedType, w.b)
}
