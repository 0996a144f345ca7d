package eventhubs

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/eventhubs"
	"github.com/redeliver/redeliver/bindings/messaging"
)

// MaxConsumerGroups bounds the groups of a hub, $Default among them (docs: Event Hubs
// quotas, dedicated tier).
const MaxConsumerGroups = 1000

// CreateConsumerGroup adds a consumer group to a hub. It fails with ErrNotFound,
// ErrAlreadyExists, ErrInvalidArgument (the name) and ErrQuotaExceeded.
func (ns *Namespace) CreateConsumerGroup(ctx context.Context, hub, group string) error {
	if err := eventhubs.CheckConsumerGroup(group); err != nil {
		return err
	}
	return ns.operate(ctx, FaultPoint{Op: "CreateConsumerGroup", Hub: hub}, func(op *operation) error {
		h, err := ns.find(hub)
		switch {
		case err != nil:
			return err
		case h.hasGroup(group):
			return refuse(messaging.ConditionEntityAlreadyExists, "the consumer group %q of event hub %q exists already", group, h.Name)
		case len(h.ConsumerGroups)+1 >= MaxConsumerGroups:
			return refuse(messaging.ConditionResourceLimitExceeded, "event hub %q has %d consumer groups, the maximum", h.Name, MaxConsumerGroups)
		}
		h.ConsumerGroups = append(slices.Clip(h.ConsumerGroups), group)
		op.saveHub(h)
		return nil
	})
}

// groupsOf returns the groups of a new hub, each once and without $Default.
func groupsOf(h Hub) (out []string, err error) {
	made := hub{Hub: Hub{Name: h.Name}}
	for _, group := range h.ConsumerGroups {
		if made.hasGroup(group) {
			continue
		}
		if err := eventhubs.CheckConsumerGroup(group); err != nil {
			return nil, err
		}
		made.ConsumerGroups = append(made.ConsumerGroups, group)
	}
	if n := len(made.ConsumerGroups) + 1; n > MaxConsumerGroups {
		return nil, refuse(messaging.ConditionArgumentOutOfRange, "event hub %q: %d consumer groups: want up to %d", h.Name, n, MaxConsumerGroups)
	}
	return made.ConsumerGroups, nil
}

func isDefault(group string) bool { return strings.EqualFold(group, eventhubs.DefaultConsumerGroup) }

func (h *hub) hasGroup(group string) bool {
	return isDefault(group) || slices.ContainsFunc(h.ConsumerGroups, func(g string) bool { return strings.EqualFold(g, group) })
}

// inGroup finds a partition that a consumer group is to read.
func (ns *Namespace) inGroup(name, group, id string) (*partition, error) {
	h, err := ns.find(name)
	if err != nil {
		return nil, err
	}
	if !h.hasGroup(group) {
		missing := messaging.NewEntityNotFound(h.Name + "/ConsumerGroups/" + group)
		missing.Text += ": the event hub has no such consumer group"
		missing.ServiceText += " The event hub has no such consumer group."
		return nil, missing
	}
	return ns.partition(name, id)
}

// MadeOnUse reports what AutoCreate was told last.
func (ns *Namespace) MadeOnUse() bool {
	ns.mu.Lock()
	defer ns.mu.Unlock()
	return ns.create
}

// AutoCreate says whether a hub is made when it is first sent to or read from, and a
// consumer group when it first reads (autoCreateEntities: any).
func (ns *Namespace) AutoCreate(on bool) {
	ns.mu.Lock()
	defer ns.mu.Unlock()
	ns.create = on
}

// use makes a hub that a client names, and its consumer group unless that is empty,
// where they are made so.
func (ns *Namespace) use(ctx context.Context, name, group string) error {
	ns.mu.Lock()
	create := ns.create && ns.kept.Ready() == nil
	h := ns.hubs[strings.ToLower(name)]
	hasGroup := group == "" || h != nil && h.hasGroup(group)
	ns.mu.Unlock()
	var err error
	switch {
	case !create || h != nil && hasGroup:
	case h == nil && hasGroup:
		err = ns.CreateHub(ctx, Hub{Name: name})
	case h == nil:
		err = ns.CreateHub(ctx, Hub{Name: name, ConsumerGroups: []string{group}})
	default:
		err = ns.CreateConsumerGroup(ctx, name, group)
	}
	if errors.Is(err, bindings.ErrAlreadyExists) {
		return nil // made meanwhile
	}
	return err
}

// CheckNames says why a hub, or a consumer group unless it is empty, cannot have that
// name: an ErrInvalidArgument.
func CheckNames(hub, group string) error {
	if err := eventhubs.CheckName(hub); err != nil || group == "" {
		return err
	}
	return eventhubs.CheckConsumerGroup(group)
}
