package atom

import (
	"net/http"
	"slices"
	"strings"

	"github.com/redeliver/redeliver/bindings/servicebus"
)

// targetKind is the kind of thing that an address names.
type targetKind int

const (
	entityTarget targetKind = iota // a queue or a topic: the body, or what there is, decides
	subscriptionTarget
	ruleTarget
	queuesTarget
	topicsTarget
	subscriptionsTarget
	rulesTarget
	namespaceTarget
	rootTarget
	unknownTarget
)

// target is an address taken apart. Names are as the client wrote them.
type target struct {
	kind                       targetKind
	entity, subscription, rule string
}

// operations are the operations on a target, by method.
type operations map[string]func(*call) error

func (o operations) allowed() string {
	var methods []string
	for m := range o {
		methods = append(methods, m)
	}
	slices.Sort(methods)
	return strings.Join(methods, ", ")
}

func (t target) operations() operations {
	get, put, del := http.MethodGet, http.MethodPut, http.MethodDelete
	switch t.kind {
	case entityTarget:
		return operations{get: getEntity, put: putEntity, del: deleteEntity}
	case subscriptionTarget:
		return operations{get: getSubscription, put: putSubscription, del: deleteSubscription}
	case ruleTarget:
		return operations{get: getRule, put: putRule, del: deleteRule}
	case queuesTarget:
		return operations{get: listQueues}
	case topicsTarget:
		return operations{get: listTopics}
	case subscriptionsTarget:
		return operations{get: listSubscriptions}
	case rulesTarget:
		// The Go client names no rule in the address of one that it gives no name.
		return operations{get: listRules, put: putRule}
	case namespaceTarget:
		return operations{get: getNamespace}
	case rootTarget:
		return operations{get: (*call).publiclyListed}
	}
	return nil
}

// parseTarget takes the path of an address apart. Fixed words match in any case. It
// fails when the names cannot be such: a dead-letter queue, for one, is no entity.
func parseTarget(path string) (target, error) {
	path = strings.Trim(path, "/")
	if path == "" {
		return target{kind: rootTarget}, nil
	}
	segments := strings.Split(path, "/")
	is := func(i int, word string) bool { return i < len(segments) && strings.EqualFold(segments[i], word) }
	switch {
	case is(0, "$namespaceinfo") && len(segments) == 1:
		return target{kind: namespaceTarget}, nil
	case is(0, "$Resources"):
		switch {
		case is(1, "queues") && len(segments) == 2:
			return target{kind: queuesTarget}, nil
		case is(1, "topics") && len(segments) == 2:
			return target{kind: topicsTarget}, nil
		}
		return target{kind: unknownTarget}, nil
	}
	for i := 1; i < len(segments); i++ {
		if !is(i, "Subscriptions") {
			continue
		}
		t := target{kind: subscriptionsTarget, entity: strings.Join(segments[:i], "/")}
		switch rest := segments[i+1:]; {
		case len(rest) == 0:
		case len(rest) == 1:
			t.kind, t.subscription = subscriptionTarget, rest[0]
		case is(i+2, "Rules") && len(rest) == 2:
			t.kind, t.subscription = rulesTarget, rest[0]
		case is(i+2, "Rules") && len(rest) == 3:
			t.kind, t.subscription, t.rule = ruleTarget, rest[0], rest[2]
		default:
			t.kind = unknownTarget
		}
		return t, t.valid()
	}
	t := target{kind: entityTarget, entity: path}
	return t, t.valid()
}

// valid checks the names.
func (t target) valid() error {
	text := t.entity
	if t.subscription != "" {
		text += "/Subscriptions/" + t.subscription
	}
	p, err := servicebus.ParsePath(text)
	if err != nil {
		return err
	}
	if p.SubQueue != servicebus.MainQueue {
		return fail(http.StatusBadRequest, "%q is a sub-queue, which comes and goes with its entity and cannot be administered", text)
	}
	if t.rule != "" {
		return servicebus.ValidateRuleName(t.rule)
	}
	return nil
}
