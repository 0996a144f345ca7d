package messaging

import "strings"

// managementSuffix ends the address of an entity's $management node.
const managementSuffix = "/$management"

// CutManagement removes the "/$management" at the end of an address, in any case,
// and reports whether there was one.
func CutManagement(address string) (path string, ok bool) {
	address = strings.TrimSuffix(address, "/")
	n := len(address) - len(managementSuffix)
	if n < 0 || !strings.EqualFold(address[n:], managementSuffix) {
		return address, false
	}
	return address[:n], true
}
