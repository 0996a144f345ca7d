package store

import "slices"

// spaceKind begins the keys of spaces; after it come the name and a zero byte.
const spaceKind = 'a'

// Space returns the same store with keys of its own: what its batches, views and
// reads name lies in the space of that name, which no other space can see. The
// empty name is s itself. Names must not contain a zero byte, and users of the
// store itself must leave it the keys that begin with "a" and a zero byte.
//
// Only keys are apart. A commit, a failure, Ready, Save, Load, Reset and Close
// concern the store as a whole, through every space alike.
func (s *Store) Space(name string) *Store {
	if name == "" {
		return s
	}
	prefix := slices.Concat(s.prefix, []byte{spaceKind, 0}, []byte(name), []byte{0})
	return &Store{shared: s.shared, prefix: prefix}
}

// within puts a key of a user into a space. A nil key stays nil: it is the end
// of all keys.
func within(space, key []byte) []byte {
	if len(space) == 0 || key == nil {
		return key
	}
	return slices.Concat(space, key)
}
