// Package tables is the Table service over HTTP: [Service] is its operations, what signatures
// must allow for each, and its words for failures. What all storage services have in common
// is package rest's; the form of addresses, tokens and batches is in package odata.
//
//	GET    /Tables, POST /Tables                    service.go
//	GET    /Tables('T'), DELETE
//	GET    /T?comp=acl, HEAD, PUT
//	GET    /?restype=service&comp=properties, PUT
//	GET    /?restype=service&comp=stats
//	GET    /T(), POST /T                            entity.go
//	GET    /T(PartitionKey='P',RowKey='R'), PUT, PATCH, MERGE, DELETE
//	POST   /$batch                                  batch.go
//
// Rules: spec tables.
package tables
