package timer

import (
	"fmt"
	"strings"
	"time"
)

// The settings that name the time zone, in the order in which they are asked.
const (
	settingWebsite = "WEBSITE_TIME_ZONE"
	settingTZ      = "TZ"
)

// Location returns the time zone of an app's schedules: from the setting
// WEBSITE_TIME_ZONE, else from TZ, else UTC. Both take names of the IANA
// database ("Europe/Berlin") and of Windows ("W. Europe Standard Time", letter
// case does not matter). The machine's own zone plays no part.
//
// An unknown name counts as UTC and yields a warning that says so; otherwise
// warning is empty. Rules in the POSIX form ("CET-1CEST,M3.5.0,M10.5.0/3") are
// unknown names.
func Location(lookup func(name string) (string, bool)) (loc *time.Location, warning string) {
	for _, setting := range [...]string{settingWebsite, settingTZ} {
		name, _ := lookup(setting)
		if name = strings.TrimSpace(name); name == "" {
			continue
		}
		loc, ok := zone(name)
		if !ok {
			return time.UTC, fmt.Sprintf("%s: %q is neither an IANA nor a Windows time zone; timers use UTC", setting, name)
		}
		return loc, ""
	}
	return time.UTC, ""
}

// zone finds a zone by its IANA or Windows name.
func zone(name string) (*time.Location, bool) {
	if iana, ok := windowsZone(name); ok {
		name = iana
	}
	name = strings.TrimPrefix(name, ":") // TZ=:Europe/Berlin is the long form of TZ=Europe/Berlin
	if strings.EqualFold(name, "local") {
		return nil, false
	}
	loc, err := time.LoadLocation(name)
	return loc, err == nil
}

// windowsZone returns the IANA name of a Windows zone.
func windowsZone(name string) (string, bool) {
	for _, z := range windowsZones {
		if strings.EqualFold(z.windows, name) {
			return z.iana, true
		}
	}
	return "", false
}
