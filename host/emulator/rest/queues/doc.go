// Package queues is the Queue service over HTTP, on what all storage services share in
// package rest. Read [Service], which has its table of operations; a file for each family:
//
//	GET    /?comp=list                           queuelist.go
//	PUT    /queue                                queueadmin.go
//	DELETE /queue
//	GET    /queue?comp=metadata   (HEAD)
//	PUT    /queue?comp=metadata
//	GET    /queue?comp=acl        (HEAD)
//	PUT    /queue?comp=acl
//	GET    /queue/messages                       queuemessages.go
//	GET    /queue/messages?peekonly=true
//	POST   /queue/messages
//	DELETE /queue/messages
//	PUT    /queue/messages/id
//	DELETE /queue/messages/id
//
// Reference: Azure Storage REST API (docs: Queue Service REST API), and Azurite for what the
// pages leave open. Rules and messages are the business of queue.Account and queue.Admin.
package queues
