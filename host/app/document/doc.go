// Package document takes typed values out of the files of an app, as the platform reads them:
// names and words in any case, numbers that stand as text, time spans that read otherwise
// than they look, and retry policies, which host.json and function.json write alike. Read
// [Reader] first. What the schema has found wrong already gives the default here; which
// values there are is said by the packages that ask.
package document
