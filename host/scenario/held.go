package scenario

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/redeliver/redeliver/host/hosttest"
	"github.com/redeliver/redeliver/host/ops"
	"github.com/redeliver/redeliver/schemas"
)

// held compares what the entities of a service hold.
func (r inspection) held(at string, s *ops.Service, want map[string]bodies) {
	what, concerned := "messages", timeline(r.all)
	if s.Scene.Documents {
		what, concerned = "documents", nil
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		expected, path := want[name], schemas.JoinPath(at, name)
		if r.missing(path, kindOf(s), spelled(s, name), expected.absent) {
			continue
		}
		got := r.holding(s, spelled(s, name))
		same := len(got) == len(expected.list)
		if expected.count >= 0 {
			same = len(got) == expected.count
		}
		for i := 0; same && i < len(expected.list); i++ {
			if s.Scene.Documents {
				same = expected.list[i].covered(got[i])
			} else {
				same = expected.list[i].matches(got[i])
			}
		}
		if !same {
			r.mismatch(path, fmt.Sprintf("%s %q holds other %s", s.Noun, name, what), expected.want(), showList(got), concerned)
		}
	}
}

// holding are the bodies that an entity of a service holds; none of one that is still to be
// made.
func (r *run) holding(s *ops.Service, entity string) (list []string) {
	var err error
	r.h.Act("look at "+entity, func(ctx context.Context) {
		err = s.Each(ctx, hosttest.Env(r.h), entity, func(_ *ops.ShownMessage, body []byte) bool {
			list = append(list, string(body))
			return true
		})
	})
	if err == nil {
		return list
	}
	if refused := s.Refusal(err); refused.Status != http.StatusNotFound {
		r.Fatalf("%v", err)
	}
	for _, there := range r.existing()[kindOf(s)] {
		if strings.EqualFold(there, entity) { // of a service to which case matters
			r.Fatalf("there is no %s %q; did you mean %q?", s.Noun, entity, there)
		}
	}
	return nil
}

// entitiesOf are those that a service has.
func (r *run) entitiesOf(s *ops.Service) (list []string) {
	var err error
	r.h.Act("list entities", func(ctx context.Context) { list, err = s.Entities(ctx, hosttest.Env(r.h)) })
	if err != nil {
		r.Fatalf("%v", err)
	}
	return list
}

// noOtherMessages looks for what entities of services hold that are not named. Documents stay
// by nature: see noOtherDocuments.
func (r inspection) noOtherMessages(at string, e *expect) {
	for _, s := range r.s.language.services {
		if s.Scene.Held == "" || s.Scene.Documents {
			continue
		}
		for _, name := range r.entitiesOf(s) {
			if hasFold(e.held[s.Scene.Held], name) {
				continue
			}
			if left := r.holding(s, name); len(left) > 0 {
				r.mismatch(at, fmt.Sprintf("%s %q holds messages", s.Noun, name), "none", showList(left), r.all)
			}
		}
	}
}
