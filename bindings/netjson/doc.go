// Package netjson reads and writes JSON as the platform's host does: with Newtonsoft.Json,
// whose texts are seen wherever the host turns a value into text or an answer.
//
// A value is nil, bool, int64, *big.Int, float64, string, [Date], *[Object] or []any. Read
// [Parse] first, then [Text] for the text of a value in .NET and [Indented] and [Compact]
// for its JSON.
//
// Left out: constructors ("new Date(0)"), and time zones other than UTC, which is what the
// host runs in.
package netjson
