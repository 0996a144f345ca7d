package rest

import (
	"context"
	"errors"
	"maps"
	"math"
	"net/http"
	"slices"
	"strings"

	"github.com/redeliver/redeliver/bindings"
)

// maxListed is the length of a page of a listing, and its default (docs: List
// Queues).
const maxListed = 5000

// listQueues serves GET /?comp=list. The marker is the name that the next page
// begins with.
func listQueues(c *call) error {
	asked, refused := c.query.number("maxresults", maxListed, 1, math.MaxInt32)
	if refused != nil {
		return refused
	}
	prefix, marker := c.query.Get("prefix"), c.query.Get("marker")
	include := slices.ContainsFunc(strings.Split(c.query.Get("include"), ","), func(s string) bool {
		return strings.EqualFold(strings.TrimSpace(s), "metadata")
	})
	var names []string
	var next string
	metadata := map[string]map[string]string{}
	err := c.inside(func(ctx context.Context) error {
		all, err := c.account.Queues.Queues(ctx)
		if err != nil {
			return err
		}
		from, _ := slices.BinarySearch(all, max(prefix, marker))
		for _, name := range all[from:] {
			if !strings.HasPrefix(name, prefix) {
				break
			}
			if int64(len(names)) == min(asked, maxListed) {
				next = name
				break
			}
			if include {
				metadata[name], err = c.account.QueueAdmin.QueueMetadata(ctx, name)
				if errors.Is(err, bindings.ErrNotFound) {
					continue // deleted meanwhile
				}
				if err != nil {
					return err
				}
			}
			names = append(names, name)
		}
		return nil
	})
	if err != nil {
		return err
	}

	b := append(c.listHead("", asked), "<Queues>"...)
	for _, name := range names {
		b = append(b, "<Queue>"...)
		b = appendElement(b, "Name", name)
		if include {
			b = append(b, "<Metadata>"...)
			for _, key := range slices.Sorted(maps.Keys(metadata[name])) {
				b = appendElement(b, key, metadata[name][key])
			}
			b = append(b, "</Metadata>"...)
		}
		b = append(b, "</Queue>"...)
	}
	b = append(b, "</Queues>"...)
	b = appendElement(b, "NextMarker", next)
	return c.answer(http.StatusOK, append(b, "</EnumerationResults>"...))
}

// endpoint is the account's address, as the client knows it.
func (c *call) endpoint() string {
	url := c.front.scheme() + "://" + c.r.Host + "/"
	if !c.inHost {
		url += c.account.Name
		if c.secondary {
			url += secondarySuffix
		}
	}
	return url
}
