// Package blobs is the blob service of an embedded storage account. [Service] is the
// containers of one account; the contracts that it meets are blob.Account, blob.Container
// and blob.Blob, and beside them what only the service's own protocol has: pages, tags,
// seals, and copies between accounts.
//
// Read state.go first: everything that the service knows is in records, and an operation is
// a list of changes of them. Then service.go, which runs operations; durable.go says what
// is written, load.go reads it. Bodies stand beside the records: bodies.go in memory,
// files.go in a store.
package blobs
