package config

import (
	"strings"

	"github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/emulator/servicebus/setting"
)

// The file's descriptions in the form of a namespace's reports: defaults filled in,
// names in the spelling that it has already.

func wantedQueue(want, have servicebus.Queue) servicebus.Queue {
	want.Name, want.Forwarding = spelling(want.Name, have.Name), have.Forwarding
	complete(&want, &have)
	want.MaxSizeInMegabytes = servicebus.MaxSize(want.MaxSizeInMegabytes, want.EnablePartitioning)
	return want
}

func wantedTopic(want, have servicebus.Topic) servicebus.Topic {
	want.Name = spelling(want.Name, have.Name)
	complete(&want, &have)
	want.MaxSizeInMegabytes = servicebus.MaxSize(want.MaxSizeInMegabytes, want.EnablePartitioning)
	return want
}

func wantedSubscription(want, have servicebus.Subscription) servicebus.Subscription {
	want.Topic, want.Name, want.Forwarding = spelling(want.Topic, have.Topic), spelling(want.Name, have.Name), have.Forwarding
	complete(&want, &have)
	return want
}

// complete fills settings in: what the namespace keeps once it is made, and defaults.
func complete(want, have any) {
	haves := setting.Of(have)
	for i, v := range setting.Of(want) {
		switch in := v.In.(type) {
		case *string:
			if v.Name != "UserMetadata" {
				*in = spelling(*in, *haves[i].In.(*string))
			}
		case **bool:
			if v.Name == "EnablePartitioning" && *in == nil {
				*in = *haves[i].In.(**bool)
			}
		}
		v.Complete()
	}
}

func spelling(want, have string) string {
	if strings.EqualFold(want, have) {
		return have
	}
	return want
}
