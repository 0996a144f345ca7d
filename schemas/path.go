package schemas

import (
	"strconv"
	"strings"
)

// A step leads from a value to one of its members or items.
type step struct {
	key   string
	index int // -1 for a member
}

// JoinPath appends a key to a JSON path. A key that could be misread, such as
// the name of a setting with dots in it, is put in brackets and quotes:
// Values["AzureWebJobs.Orders.Disabled"].
func JoinPath(parent, key string) string {
	if !plainKey(key) {
		return parent + "[" + strconv.Quote(key) + "]"
	}
	if parent == "" {
		return key
	}
	return parent + "." + key
}

// IndexPath appends the index of an item to a JSON path.
func IndexPath(parent string, index int) string {
	return parent + "[" + strconv.Itoa(index) + "]"
}

func plainKey(key string) bool {
	return key != "" && !strings.ContainsAny(key, ".[]\" \t\r\n")
}

func (s step) appendTo(path string) string {
	if s.index >= 0 {
		return IndexPath(path, s.index)
	}
	return JoinPath(path, s.key)
}

// splitPath is the reverse of JoinPath and IndexPath. It takes any text; a text
// that is no path finds nothing.
func splitPath(path string) []step {
	var steps []step
	for path != "" {
		if path[0] == '.' {
			path = path[1:]
			continue
		}
		if path[0] != '[' {
			end := strings.IndexAny(path, ".[")
			if end < 0 {
				end = len(path)
			}
			steps = append(steps, step{key: path[:end], index: -1})
			path = path[end:]
			continue
		}
		path = path[1:]
		if quoted, err := strconv.QuotedPrefix(path); err == nil {
			key, _ := strconv.Unquote(quoted)
			steps = append(steps, step{key: key, index: -1})
			path = strings.TrimPrefix(path[len(quoted):], "]")
			continue
		}
		inside, rest, _ := strings.Cut(path, "]")
		if n, err := strconv.Atoi(inside); err == nil && n >= 0 {
			steps = append(steps, step{index: n})
		} else {
			steps = append(steps, step{key: inside, index: -1})
		}
		path = rest
	}
	return steps
}
