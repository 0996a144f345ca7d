package azure

import "sync"

// recentLimit is how many entities of a namespace have a sender at a time. The names of
// entities that are sent to may be made of what messages say (binding expressions), and
// have no end.
const recentLimit = 100

// recent holds the clients used last, by key, and closes the one used longest
// ago when there are too many. Clients in use stay.
type recent[C any] struct {
	limit int
	end   func(C)

	mu    sync.Mutex
	by    map[string]*recentlyUsed[C]
	turns uint64
}

type recentlyUsed[C any] struct {
	c     C
	users int
	turn  uint64 // of the last use
}

func newRecent[C any](limit int, end func(C)) *recent[C] {
	return &recent[C]{limit: limit, end: end, by: map[string]*recentlyUsed[C]{}}
}

// use returns the client under a key, opened if need be; leave says that it is not used
// any more. Open must not wait.
func (r *recent[C]) use(key string, open func() (C, error)) (c C, leave func(), err error) {
	r.mu.Lock()
	u := r.by[key]
	if u == nil {
		if c, err = open(); err != nil {
			r.mu.Unlock()
			return c, func() {}, err
		}
		u = &recentlyUsed[C]{c: c}
		r.by[key] = u
	}
	r.turns++
	u.users, u.turn = u.users+1, r.turns
	old, tooMany := r.oldestLocked()
	r.mu.Unlock()
	if tooMany {
		r.end(old)
	}
	return u.c, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		u.users--
	}, nil
}

// oldestLocked takes out the client that has to go.
func (r *recent[C]) oldestLocked() (c C, tooMany bool) {
	if len(r.by) <= r.limit {
		return c, false
	}
	oldest := ""
	for key, u := range r.by {
		if u.users == 0 && (!tooMany || u.turn < r.by[oldest].turn) {
			oldest, tooMany = key, true
		}
	}
	if tooMany {
		c = r.by[oldest].c
		delete(r.by, oldest)
	}
	return c, tooMany
}

// all returns everything.
func (r *recent[C]) all() (list []C) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, u := range r.by {
		list = append(list, u.c)
	}
	return list
}
