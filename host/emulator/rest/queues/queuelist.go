package queues

import (
	"context"
	"errors"
	"maps"
	"math"
	"net/http"
	"slices"
	"strings"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/host/emulator/rest"
)

// listQueues serves GET /?comp=list. The marker is the name that the next page
// begins with.
func listQueues(c *rest.Call) error {
	asked, refused := c.Query.Number("maxresults", rest.MaxListed, 1, math.MaxInt32)
	if refused != nil {
		return refused
	}
	prefix, marker := c.Query.Get("prefix"), c.Query.Get("marker")
	include := slices.ContainsFunc(strings.Split(c.Query.Get("include"), ","), func(s string) bool {
		return strings.EqualFold(strings.TrimSpace(s), "metadata")
	})
	var names []string
	var next string
	metadata := map[string]map[string]string{}
	err := c.Inside(func(ctx context.Context) error {
		all, err := c.Account.Queues.Queues(ctx)
		if err != nil {
			return err
		}
		from, _ := slices.BinarySearch(all, max(prefix, marker))
		for _, name := range all[from:] {
			if !strings.HasPrefix(name, prefix) {
				break
			}
			if int64(len(names)) == min(asked, rest.MaxListed) {
				next = name
				break
			}
			if include {
				metadata[name], err = c.Account.QueueAdmin.QueueMetadata(ctx, name)
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

	b := append(c.ListHead("", asked), "<Queues>"...)
	for _, name := range names {
		b = append(b, "<Queue>"...)
		b = rest.AppendElement(b, "Name", name)
		if include {
			b = append(b, "<Metadata>"...)
			for _, key := range slices.Sorted(maps.Keys(metadata[name])) {
				b = rest.AppendElement(b, key, metadata[name][key])
			}
			b = append(b, "</Metadata>"...)
		}
		b = append(b, "</Queue>"...)
	}
	b = append(b, "</Queues>"...)
	b = rest.AppendElement(b, "NextMarker", next)
	return c.Answer(http.StatusOK, append(b, "</EnumerationResults>"...))
}
