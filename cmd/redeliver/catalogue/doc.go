// Package catalogue has an entry for each error and hint that a user is likely to meet: its
// identity, its sentence, its cause and what mends it. docs/help/troubleshooting.md is
// written from it, so that a pasted line is found there.
//
// Errors are made where they arise, and know nothing of this package. Find recognises one by its
// text, as a reader with a search box does; a test holds each sentence against the sources of the
// program. No caller decides anything by what Find says: it is for people.
//
// Read entry.go first, then the tables: starting.go, functions.go, messages.go, commanding.go,
// testing.go.
package catalogue
