// Package web is the HTTP server of a host: the functions' own URLs, the admin
// API of the platform, and a control API of ours for the command line and for
// other tools. It turns requests into calls of a [host.Host] and knows no rule
// of retry, settlement or reload.
//
// Read [Server] and then routes.go first, which says who takes which request; front.go
// serves functions (spec host-and-retry 9.1 to 9.4), admin.go and adminhost.go the admin API
// (9.5), control.go the control API; guard.go and network.go say who may call. What they
// share of a request and its answer is in exchange.go.
//
// # Who may call
//
// Without Options.EnableAuth every request of this machine counts as made by the
// administrator, and every one for a function, as under the platform's own tool (cli: CliAuthenticationHandler.cs). With it,
// functions want the keys of spec host-and-retry 9.2 (header x-functions-key, else
// query parameter code) and everything below /admin wants the master key;
// without a sufficient key the answer is 401. Keys are made once and kept in a
// file, see [Keys].
//
// A web page in a browser on this machine must not be able to drive the host.
// Everything below /admin therefore answers 403 when the Host header does not name
// this machine, and when a page of another origin sends the request (by Origin,
// Sec-Fetch-Site or Referer), unless that origin is listed in Options.CORS by name: see package listen, whose Guard all
// listeners of a host share. Web hooks refuse such pages too; functions are open to
// every page, as on the platform. From other machines the admin and control APIs
// always want the master key, also without EnableAuth, where Options.Address lets
// them come at all; Options.AdminAddress keeps these APIs at an address of their
// own.
//
// # The page
//
// Options.Page is a page for people, at PagePath (package ui). The rules above hold for
// it, but for the key: its files are the same in every host. What it asks of the control
// API needs a key where others need one.
//
// # The control API
//
// All paths are below /admin/redeliver, and every answer has the header
// VersionHeader. Bodies of requests are at most 1 MiB, except those of blobs, states
// and documents, and have to be there within two minutes; of those others, as of
// functions' bodies, each part has. Errors have the body {"error": "...", "hint": "..."}; hint is often absent.
//
// Each operation is a type of a package below host/ops, which has its parameters, its answer and
// its deed (that of ReadJournal is controljournal.go here); beside them GET /metrics serves Options.Metrics. schemas/openapi/control.json says the same in OpenAPI, and so does the
// host itself. Both, and this list, are made of the list of host/ops/all:
//
//	GET    /journal                            ReadJournal
//	GET    /status                             GetStatus
//	GET    /inventory                          GetInventory
//	GET    /outputs                            ListOutputs
//	GET    /outputs/values                     PeekOutputs
//	PUT    /outputs/fault                      FailOutputs
//	POST   /functions/{name}/invoke            Invoke
//	GET    /lives                              ListLives
//	GET    /explain                            Explain
//	GET    /app                                GetApp
//	GET    /due                                GetDue
//	GET    /clock                              GetClock
//	POST   /clock/advance                      AdvanceClock
//	POST   /clock/next                         NextDeadline
//	PUT    /clock                              SetClock
//	GET    /state                              SaveState
//	PUT    /state                              LoadState
//	DELETE /state                              ResetState
//	POST   /reload                             Reload
//	GET    /openapi.json                       Describe
//	GET    /identity                           Identify
//	GET    /faults                             ListFaults
//	POST   /faults                             AddFault
//	DELETE /faults                             ClearFaults
//	PUT    /crash                              CrashAt
//	POST   /stop                               Stop
//	GET    /messages                           ListMessages
//	GET    /messages/body                      ReadBody
//	POST   /messages/release                   ReleaseMessage
//	POST   /messages/poison                    PoisonMessage
//	POST   /messages/redrive                   RedriveMessages
//	POST   /deliveries/again                   RunAgain
//	GET    /queues                             ListQueues
//	POST   /queues/{name}/messages             SendMessage
//	GET    /queues/{name}/messages             PeekQueue
//	DELETE /queues/{name}/messages             PurgeQueue
//	POST   /queues/{name}/redrive              RedriveQueue
//	GET    /servicebus                         ListEntities
//	PUT    /servicebus/entity                  CreateEntity
//	DELETE /servicebus/entity                  DeleteEntity
//	POST   /servicebus/messages                SendBusMessage
//	GET    /servicebus/messages                PeekEntity
//	DELETE /servicebus/messages                PurgeEntity
//	POST   /servicebus/redrive                 RedriveEntity
//	POST   /servicebus/expire-lock             ExpireLocks
//	PUT    /eventgrid/topic                    CreateTopic
//	PUT    /eventgrid/subscription             Subscribe
//	DELETE /eventgrid/topic                    DeleteTopic
//	DELETE /eventgrid/subscription             Unsubscribe
//	POST   /eventgrid/events                   Publish
//	PUT    /eventhubs/hub                      CreateHub
//	PUT    /eventhubs/consumergroup            CreateGroup
//	POST   /eventhubs/events                   SendEvent
//	GET    /cosmos                             ListContainers
//	PUT    /cosmos/container                   CreateContainer
//	DELETE /cosmos/container                   DeleteContainer
//	POST   /cosmos/documents                   WriteDocuments
//	GET    /cosmos/documents                   ReadDocuments
//	DELETE /cosmos/documents                   PurgeDocuments
//	PUT    /containers/{container}/blob        Upload
//	GET    /containers/{container}/blob        Download
//	GET    /tables                             ListTables
//	PUT    /tables/{table}                     CreateTable
//	DELETE /tables/{table}                     DeleteTable
//	POST   /tables/{table}/entities            WriteEntities
//	GET    /tables/{table}/entities            ReadEntities
//	DELETE /tables/{table}/entities            PurgeEntities
//	GET    /orchestrations                     ListOrchestrations
//	POST   /orchestrations                     StartOrchestration
//	DELETE /orchestrations                     PurgeOrchestrations
//	GET    /orchestrations/instance            ShowOrchestration
//	POST   /orchestrations/event               RaiseEvent
//	POST   /orchestrations/command             ControlOrchestration
//	POST   /orchestrations/restart             RestartOrchestration
//	GET    /entities                           ListDurableEntities
//	POST   /entities/signal                    SignalEntity
//
// A path is one of Service Bus: orders, events/Subscriptions/all,
// orders/$DeadLetterQueue, orders/$Transfer/$DeadLetterQueue.
//
// 404 means an unknown function, output, queue, entity, message, container or blob, 400 a
// bad name or parameter, 409 that the account or namespace of the app is outside
// this host, 413 a body that is too large, 503 that the host is not ready.
//
// # What it leaves out
//
// TLS, the platform's /admin/vfs and key management over HTTP.
package web
