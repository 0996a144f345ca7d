package host

import (
	"slices"
	"strings"
)

// ConsumerGroups returns the consumer groups by which the app's functions read a hub
// of the embedded namespace, sorted and once each.
func (h *Host) ConsumerGroups(hub string) (groups []string) {
	a := h.App()
	if a == nil {
		return nil
	}
	for _, f := range a.Functions {
		for _, b := range f.Bindings {
			if !b.Is("eventHubTrigger") || !strings.EqualFold(hubName(a, b), hub) {
				continue
			}
			if conn, ok := a.Settings.Connection(hubSetting(b)); ok && h.doors.isEmbeddedBus(conn) {
				groups = append(groups, consumerGroup(b))
			}
		}
	}
	slices.Sort(groups)
	return slices.Compact(groups)
}

// EventHubsOutside returns the first setting by which the app's Event Hubs bindings
// name a namespace outside this host, or the empty string when one of them names the
// embedded namespace, or when there is none.
func (h *Host) EventHubsOutside() string {
	a := h.App()
	if a == nil || h.opts.Services != nil {
		return ""
	}
	outside := ""
	for _, f := range a.Functions {
		for _, b := range f.Bindings {
			if !b.Is("eventHubTrigger") && !b.Is("eventHub") {
				continue
			}
			conn, ok := a.Settings.Connection(hubSetting(b))
			switch {
			case ok && h.doors.isEmbeddedBus(conn):
				return ""
			case ok && outside == "":
				outside = conn.Setting
			}
		}
	}
	return outside
}
