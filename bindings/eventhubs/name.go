package eventhubs

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/redeliver/redeliver/bindings/messaging"
)

// MaxPartitions is the most partitions that a hub can have (docs: Event Hubs
// quotas, dedicated tier).
const MaxPartitions = 1024

// Longest names, in characters (docs: resource naming rules, Microsoft.EventHub).
const (
	maxName              = 256
	maxConsumerGroupName = 50
)

// CheckName fails with bindings.ErrInvalidArgument for what the service does not take as
// the name of a hub.
func CheckName(name string) error {
	return checkName("event hub", name, maxName)
}

// CheckConsumerGroup does the same for the name of a consumer group;
// DefaultConsumerGroup passes.
func CheckConsumerGroup(name string) error {
	if strings.EqualFold(name, DefaultConsumerGroup) {
		return nil
	}
	return checkName("consumer group", name, maxConsumerGroupName)
}

// eventHubsName is what the service takes as a name.
var validName = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$`) // read only

func checkName(what, name string, longest int) error {
	if len(name) > longest || !validName.MatchString(name) {
		return messaging.NewError(messaging.ConditionArgumentError, fmt.Sprintf("%s name %q: want up to %d letters, digits, periods, hyphens and underscores, with a letter or digit at both ends", what, name, longest))
	}
	return nil
}
