package app

import (
	"os"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
)

const longestHostID = 32

// hostID returns the host ID (spec host-and-retry 11.1; host: ScriptHostIdProvider.cs).
func (l *loader) hostID() string {
	settings := l.app.Settings
	if id := settings.Get("AzureFunctionsWebHost__hostid"); id != "" {
		return id
	}
	if site := settings.Get("WEBSITE_SITE_NAME"); site != "" && settings.Get("WEBSITE_INSTANCE_ID") != "" {
		if slot := settings.Get("WEBSITE_SLOT_NAME"); slot != "" && !strings.EqualFold(slot, "production") {
			site += "-" + slot
		}
		return trimHostID(site)
	}
	if name := settings.Get("WEBSITE_HOSTNAME"); name != "" && settings.Get("CONTAINER_NAME") != "" {
		return trimHostID(strings.TrimSuffix(strings.ToLower(name), ".azurewebsites.net"))
	}
	machine := l.opts.MachineName
	if machine == "" {
		machine, _ = os.Hostname() // an empty name is as good as any
	}
	return LocalHostID(machine, l.app.Dir)
}

// LocalHostID returns the host ID of an app outside the cloud: the letters and
// digits of the machine's name, a dash, and a hash of the app's path, cut to 32
// characters. A machine name of 32 and more leaves no room for the hash, so two
// apps on it share their ID, as on the platform.
func LocalHostID(machine, path string) string {
	var b strings.Builder
	for _, r := range machine {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			b.WriteRune(r)
		}
	}
	return trimHostID(b.String() + "-" + strconv.FormatInt(stableHash(path), 10))
}

// stableHash is the platform's own 32-bit hash over UTF-16, as its absolute
// value.
func stableHash(s string) int64 {
	h := int32(23)
	for _, unit := range utf16.Encode([]rune(s)) {
		h = h*31 + int32(unit)
	}
	if h < 0 {
		return -int64(h)
	}
	return int64(h)
}

func trimHostID(id string) string {
	if r := []rune(id); len(r) > longestHostID {
		id = string(r[:longestHostID])
	}
	return strings.TrimRight(strings.ToLower(id), "-")
}
