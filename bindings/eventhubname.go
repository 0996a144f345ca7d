package bindings

import (
	"fmt"
	"regexp"
	"strings"
)

// MaxEventHubPartitions is the most partitions that a hub can have (docs: Event Hubs
// quotas, dedicated tier).
const MaxEventHubPartitions = 1024

// Longest names, in characters (docs: resource naming rules, Microsoft.EventHub).
const (
	maxEventHubName      = 256
	maxConsumerGroupName = 50
)

// CheckEventHubName fails with ErrInvalidArgument for what the service does not take as
// the name of a hub.
func CheckEventHubName(name string) error {
	return checkEventHubsName("event hub", name, maxEventHubName)
}

// CheckConsumerGroup is the like for the name of a consumer group; DefaultConsumerGroup
// is one.
func CheckConsumerGroup(name string) error {
	if strings.EqualFold(name, DefaultConsumerGroup) {
		return nil
	}
	return checkEventHubsName("consumer group", name, maxConsumerGroupName)
}

// eventHubsName is what the service takes as a name.
var eventHubsName = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$`) // read only

func checkEventHubsName(what, name string, longest int) error {
	if len(name) > longest || !eventHubsName.MatchString(name) {
		return NewServiceBusError(ConditionArgumentError, fmt.Sprintf("%s name %q: want up to %d letters, digits, periods, hyphens and underscores, with a letter or digit at both ends", what, name, longest))
	}
	return nil
}
