// Package schemas reads the JSON files of a function app and says what is wrong
// with them: in plain words, with line and column, every fault in one go.
//
// Read [Parse] and [Document] first, then [Fault], which is the one error and
// warning type of all code that loads an app. [Parse] accepts what the
// platform's own parser accepts: comments, trailing commas, single quotes,
// property names without quotes, a byte order mark. [Document.Override] lays
// settings of the environment over a file; [Document.Validate] checks the result
// against one of the embedded schemas of [Names]; [Document.Canonical] gives the
// checked values with the spelling and the types that the schema names.
//
// The schemas are written for two readers: editors (they are plain JSON Schema,
// with descriptions and defaults) and this package, which takes from them
// everything it says about a fault. Their own keywords begin with "x-" and are
// explained in vocabulary.go. Schemas are compiled at their first use.
//
// Left out, because it takes more than one file to decide: completeness and
// ranges of retry policies (package retrycontext), unknown binding types,
// duplicate binding names, the number of triggers, script files, routes (all
// package host/app).
package schemas
