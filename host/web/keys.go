package web

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// Level is what a key entitles to (host: AuthorizationLevel).
type Level int

// The levels, weakest first. A system key belongs to one extension's webhook and
// opens no function.
const (
	Anonymous Level = iota // no key, or an unknown one
	SystemLevel
	FunctionLevel
	AdminLevel
)

// systemKeys are the names of the system keys: keys of the extensions that take
// webhooks (ext: the name of the extension and "_extension").
var systemKeys = []string{"blobs_extension", durableKey, "eventgrid_extension"} // read only

// defaultKey is the name of the key that every function and the host as a whole
// begin with.
const defaultKey = "default"

// Keys are the secrets of one app: master, host, system and function keys. They
// are made once, at random, and kept in a file that only its owner may read;
// they never appear in logs or in the journal. A Keys may be used concurrently.
// Two processes should not write the same file at once.
type Keys struct {
	path string

	mu   sync.Mutex
	data keyFile
}

// keyFile is the form of the file.
type keyFile struct {
	Master    string                       `json:"master"`
	Host      map[string]string            `json:"host"`
	System    map[string]string            `json:"system"`
	Functions map[string]map[string]string `json:"functions"`
}

// Key is one key, for display.
type Key struct {
	Kind     string `json:"kind"`               // "master", "host", "system" or "function"
	Function string `json:"function,omitempty"` // of a function key
	Name     string `json:"name,omitempty"`     // "default", or a system key's name; empty for the master key
	Value    string `json:"value"`
}

// OpenKeys reads the keys in the file at path, and makes what is missing: the
// master key, the host's default key, the system keys and a default key for each
// of functions. The file and its folder are made when needed.
func OpenKeys(path string, functions ...string) (*Keys, error) {
	k := &Keys{path: path}
	text, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, fmt.Errorf("read keys: %w", err)
	default:
		if err := json.Unmarshal(text, &k.data); err != nil {
			return nil, fmt.Errorf("read keys: %q is not a key file: %w", path, err)
		}
	}
	if err := k.Ensure(functions...); err != nil {
		return nil, err
	}
	return k, nil
}

// MasterKey returns the master key in the file at path, and "" when it is missing
// or cannot be read. It makes nothing.
func MasterKey(path string) string {
	text, err := os.ReadFile(path)
	var data keyFile
	if err != nil || json.Unmarshal(text, &data) != nil {
		return ""
	}
	return data.Master
}

// Ensure makes missing keys, keys of functions included, and writes the file if
// there were any.
func (k *Keys) Ensure(functions ...string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	changed := false
	want := func(m *map[string]string, name string) {
		if *m == nil {
			*m = map[string]string{}
		}
		if (*m)[name] == "" {
			(*m)[name] = newKey()
			changed = true
		}
	}
	if k.data.Master == "" {
		k.data.Master = newKey()
		changed = true
	}
	want(&k.data.Host, defaultKey)
	for _, name := range systemKeys {
		want(&k.data.System, name)
	}
	if k.data.Functions == nil {
		k.data.Functions = map[string]map[string]string{}
	}
	for _, f := range functions {
		f = k.spellingLocked(f)
		keys := k.data.Functions[f]
		want(&keys, defaultKey)
		k.data.Functions[f] = keys
	}
	if !changed {
		return nil
	}
	return k.writeLocked()
}

// setMaster puts a key of the user's in the place of the master key, unless it is empty.
func (k *Keys) setMaster(key string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if key == "" || key == k.data.Master {
		return nil
	}
	k.data.Master = key
	return k.writeLocked()
}

// spellingLocked returns the name under which a function's keys are kept.
func (k *Keys) spellingLocked(function string) string {
	for name := range k.data.Functions {
		if strings.EqualFold(name, function) {
			return name
		}
	}
	return function
}

// writeLocked replaces the file in one step.
func (k *Keys) writeLocked() error {
	text, err := json.MarshalIndent(k.data, "", "  ")
	if err != nil { // strings and maps always marshal
		panic(err)
	}
	if err := os.MkdirAll(filepath.Dir(k.path), 0o700); err != nil {
		return fmt.Errorf("write keys: %w", err)
	}
	fresh := k.path + ".new"
	if err := os.WriteFile(fresh, append(text, '\n'), 0o600); err != nil {
		return fmt.Errorf("write keys: %w", err)
	}
	if err := os.Rename(fresh, k.path); err != nil {
		return fmt.Errorf("write keys: %w", err)
	}
	return nil
}

// Level returns what key entitles to at the named function; "" asks about no
// function (host: AuthenticationLevelHandler.cs).
func (k *Keys) Level(key, function string) Level {
	level, _ := k.find(key, function)
	return level
}

// find is Level with the name of the key; the master key is called "master" (host:
// SecretManager.cs).
func (k *Keys) find(key, function string) (level Level, name string) {
	if key == "" {
		return Anonymous, ""
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if equal(key, k.data.Master) {
		return AdminLevel, "master"
	}
	if function != "" {
		for _, keys := range []map[string]string{k.data.Host, k.data.Functions[k.spellingLocked(function)]} {
			if name := nameOf(key, keys); name != "" {
				return FunctionLevel, name
			}
		}
	}
	if name := nameOf(key, k.data.System); name != "" {
		return SystemLevel, name
	}
	return Anonymous, ""
}

// sent is the level of the key that a request has, and the key's name. No Keys know no key.
func (k *Keys) sent(r *http.Request, function string) (level Level, name string) {
	if k == nil {
		return Anonymous, ""
	}
	return k.find(sentKey(r), function)
}

// sentKey is the key that a request has. The header goes before the parameter of the query,
// also when it is empty (host: AuthenticationLevelHandler.cs).
func sentKey(r *http.Request) string {
	if sent := r.Header["X-Functions-Key"]; len(sent) > 0 {
		return sent[0]
	}
	return queryFold(r, "code")
}

// isSystem reports whether key is the system key of that name.
func (k *Keys) isSystem(name, key string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return equal(key, k.data.System[name])
}

// system is the system key of that name.
func (k *Keys) system(name string) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.data.System[name]
}

// All lists the keys: master, host, system, then functions by name.
func (k *Keys) All() []Key {
	k.mu.Lock()
	defer k.mu.Unlock()
	list := []Key{{Kind: "master", Value: k.data.Master}}
	add := func(kind, function string, keys map[string]string) {
		for _, name := range slices.Sorted(maps.Keys(keys)) {
			list = append(list, Key{Kind: kind, Function: function, Name: name, Value: keys[name]})
		}
	}
	add("host", "", k.data.Host)
	add("system", "", k.data.System)
	for _, f := range slices.Sorted(maps.Keys(k.data.Functions)) {
		add("function", f, k.data.Functions[f])
	}
	return list
}

// nameOf is the name of a key among keys, empty for one that is not there.
func nameOf(key string, keys map[string]string) string {
	found := ""
	for name, candidate := range keys {
		if equal(key, candidate) { // every candidate is compared: time says nothing about which one it was
			found = name
		}
	}
	return found
}

// equal compares in constant time; an empty key equals nothing.
func equal(a, b string) bool {
	return b != "" && subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1
}

// newKey returns 256 random bits in a form that needs no escaping in a URL.
func newKey() string {
	var b [32]byte
	rand.Read(b[:]) // never fails
	return base64.RawURLEncoding.EncodeToString(b[:])
}
