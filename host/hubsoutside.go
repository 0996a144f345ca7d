package host

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
