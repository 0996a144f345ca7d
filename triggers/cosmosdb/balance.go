package cosmosdb

import "time"

// choose returns the leases that owner should take now: free ones, up to its fair
// share; without a free one, one of the owner with the most. running are the IDs of
// the leases whose ranges this owner reads; a lease in its name that it does not
// read is free.
//
// Source:
// src/ChangeFeedProcessor/PartitionManagement/EqualPartitionsBalancingStrategy.cs,
// without its chance: the first lease that will do is taken.
func choose(all []*lease, owner string, running map[string]bool, now time.Time, expiration time.Duration) []*lease {
	var free []*lease
	byOwner := map[string][]*lease{owner: nil}
	var owners []string // others, in order of their first lease
	for _, l := range all {
		switch name := l.owner(); {
		case name == owner && running[l.ID]:
			byOwner[owner] = append(byOwner[owner], l)
		case name == owner || l.expired(now, expiration):
			free = append(free, l)
		default:
			if byOwner[name] == nil {
				owners = append(owners, name)
			}
			byOwner[name] = append(byOwner[name], l)
		}
	}
	workers := len(owners) + 1
	target := (len(all) + workers - 1) / workers
	needed := target - len(byOwner[owner])
	if len(free) > 0 {
		if needed <= 0 || needed > 1 && workers > 1 {
			needed = 1 // a free lease is always taken, and with other owners one at a time
		}
		return free[:min(needed, len(free))]
	}
	if needed <= 0 {
		return nil
	}
	var most []*lease
	for _, name := range owners {
		if len(byOwner[name]) > len(most) {
			most = byOwner[name]
		}
	}
	least := target // what the other one keeps
	if needed > 1 {
		least--
	}
	if len(most) > least {
		return most[:1]
	}
	return nil
}
