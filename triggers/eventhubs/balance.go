package eventhubs

import (
	"slices"
	"time"
)

// view maps partitions to their owners, as one listener sees them.
type view struct {
	partitions []string // of the hub, in order
	owned      map[string]Ownership
	me         string
	expired    time.Time // what was claimed before it counts no more
}

// owner is the present owner of a partition; empty: none.
func (v *view) owner(partition string) string {
	o := v.owned[partition]
	if o.Since.Before(v.expired) {
		return ""
	}
	return o.Owner
}

// mine are the partitions that this listener has.
func (v *view) mine() (out []string) {
	for _, p := range v.partitions {
		if v.owner(p) == v.me {
			out = append(out, p)
		}
	}
	return out
}

// next returns the partition that this listener should take next, if there is one:
// a free one, as long as others keep their part; or else one of an owner with more
// than its part.
//
// Source: Azure.Messaging.EventHubs.Shared, src/Processor/
// PartitionLoadBalancer.cs FindAndClaimOwnershipAsync. Where the platform draws
// lots, this takes the lowest number of the free ones, and the highest of the
// largest owner.
func (v *view) next() (partition string, ok bool) {
	counts := map[string]int{v.me: 0}
	var free []string
	for _, p := range v.partitions {
		switch o := v.owner(p); o {
		case "":
			free = append(free, p)
		default:
			counts[o]++
		}
	}
	fair, extra := len(v.partitions)/len(counts), len(v.partitions)%len(counts)
	withExtra := 0 // owners that have one more than the least
	for _, n := range counts {
		if n > fair {
			withExtra++
		}
	}
	own := counts[v.me]
	if own > fair || own == fair && withExtra >= extra {
		return "", false
	}
	if len(free) > 0 {
		return free[0], true
	}
	victim, most := "", own+1 // an owner with only one more keeps it
	for _, o := range owners(counts) {
		if n := counts[o]; n > most {
			victim, most = o, n
		}
	}
	if victim == "" {
		return "", false
	}
	for _, p := range slices.Backward(v.partitions) {
		if v.owner(p) == victim {
			return p, true
		}
	}
	return "", false
}

// owners are the names of counts, in order.
func owners(counts map[string]int) []string {
	out := make([]string, 0, len(counts))
	for o := range counts {
		out = append(out, o)
	}
	slices.Sort(out)
	return out
}
