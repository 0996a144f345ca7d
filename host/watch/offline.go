package watch

import (
	"os"
	"path/filepath"
	"strings"
)

// OfflineFile takes an app offline while it exists (spec host-and-retry 7.4).
const OfflineFile = "app_offline.htm"

// Offline is the path of app_offline.htm, in any case, of an app folder that holds it.
func Offline(dir string) string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return ""
	}
	for _, e := range entries {
		if strings.EqualFold(e.Name(), OfflineFile) {
			return filepath.Join(dir, e.Name())
		}
	}
	return ""
}

// OfflinePage is the text of app_offline.htm, or nil.
func OfflinePage(dir string) []byte {
	path := Offline(dir)
	if path == "" {
		return nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	return text
}
