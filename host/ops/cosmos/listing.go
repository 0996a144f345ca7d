package cosmos

import (
	"strconv"
	"strings"

	"github.com/redeliver/redeliver/host/kinds/cosmosdb"
)

// rows are those of a container: each range once for each set of leases.
func rows(c *CosmosContainer) (rows [][]string) {
	documents := map[string]string{}
	for _, r := range c.Ranges {
		documents[r.ID] = strconv.Itoa(r.Items)
		if len(c.Leases) == 0 {
			rows = append(rows, []string{c.Path, "-", "-", r.ID, documents[r.ID], "-", "-"})
		}
	}
	for _, l := range c.Leases {
		leases := l.Container
		if l.Prefix != "" {
			leases += " " + l.Prefix
		}
		if l.Error != "" {
			rows = append(rows, []string{c.Path, leases, "-", "-", strconv.Itoa(c.Documents), "missing", "-"})
		}
		for _, r := range l.Ranges {
			rows = append(rows, append([]string{c.Path, leases}, leaseCells(&r, documents[r.Range])...))
		}
	}
	return rows
}

func leaseCells(r *cosmosdb.Lease, documents string) []string {
	owner, continuation, pending := "-", "-", "-"
	switch {
	case r.Function != "":
		owner = r.Function
	case r.Owner != "":
		owner = r.Owner
	}
	if text := strings.Trim(r.Continuation, `"`); text != "" {
		continuation = text
	}
	if r.Error != "" {
		continuation = "unreadable"
	}
	if r.Pending != nil {
		pending = strconv.Itoa(*r.Pending)
	}
	return []string{owner, r.Range, documents, continuation, pending}
}
