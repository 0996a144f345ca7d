// Package netjson reads and writes JSON as the platform's host does: with Newtonsoft.Json
// and its defaults. What it makes of a text is seen wherever the host turns a value into
// text or an answer, and wherever a payload feeds binding expressions.
//
// A value is nil, bool, int64, *big.Int, float64, string, [Date], *[Object], []any,
// [Undefined] or *[Constructor]. Read [Parse] first, then [Text] for the text of a value in
// .NET, [Indented] and [Compact] for its JSON, and [Strict] for JSON that everybody reads.
package netjson
