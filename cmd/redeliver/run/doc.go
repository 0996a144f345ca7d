// Package run is "redeliver start": hosts in the foreground with all that they serve. Read
// start.go first, then common.go, one start with what its apps have together, and session.go,
// the part of one app. listeners.go says what is served where, with the flags (ports.go,
// tls.go), what an app needs (wanted.go) and what clients are told (accounts.go,
// endpoints.go); store.go is the data, overview.go what is printed of it all.
//
// It is the only room of the command that composes servers: no other one imports an emulator.
package run
