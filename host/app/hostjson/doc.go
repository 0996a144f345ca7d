// Package hostjson is what host.json says, with the defaults of the platform: [Config], and
// [Switches] of the emulator itself. Read config.go, then configread.go; each extension has
// a file of its own. How the file is found, and what settings and options lay over it, is in
// package app, which hears of faults by [Around].
package hostjson
