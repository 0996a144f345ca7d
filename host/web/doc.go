// Package web is the HTTP server of a host: the functions' own URLs, the admin
// API of the platform, and a control API of ours for the command line and for
// other tools. It turns requests into calls of a [host.Host] and knows no rule
// of retry, settlement or reload.
//
// Read [New] and [Server] first; front.go serves functions (spec host-and-retry 9.1
// to 9.4), admin.go and adminhost.go the admin API (9.5), control.go the control
// API, guard.go says who may call the last two.
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
// this machine, and when a page of another origin sends the request, unless that
// origin is listed in Options.CORS by name: see package listen, whose Guard all
// listeners of a host share. Web hooks refuse such pages too; functions are open to
// every page, as on the platform. From other machines the admin and control APIs
// always want the master key, also without EnableAuth, where Options.Address lets
// them come at all; Options.AdminAddress keeps these APIs at an address of their
// own.
//
// # The control API
//
// All paths are below /admin/redeliver, and every answer has the header
// VersionHeader. Bodies of requests are at most 1 MiB, except those of blobs, states
// and documents, and have to be there within two minutes; of those others, as of
// functions' bodies, each part has. Errors have the body {"error": "...", "hint": "..."}; hint is often absent.
//
//	GET    /status                            Status
//	GET    /inventory                         Inventory
//	GET    /queues                            {"queues": [QueueInfo]}
//	POST   /queues/{name}/messages            the body is the message, encoded as the app
//	                                          expects it unless ?raw=true; ?visibility=30s delays
//	                                          it, ?ttl=10m (or never) limits its life; the queue is
//	                                          made when missing: 201, Message
//	GET    /queues/{name}/messages            Peeked: up to ?max=32 visible messages, or the one with
//	                                          ?id=, visible or not; nothing changes
//	DELETE /queues/{name}/messages            removes all messages, invisible ones too: 200, Purged
//	POST   /queues/{name}/redrive             moves the visible messages, or the one with ?id=, to the
//	                                          queue ?to=, without it to the one that NAME-poison
//	                                          belongs to: 200, Redriven; 409 for a message in work
//	PUT    /containers/{container}/blob?name= the body becomes that blob, with the request's
//	                                          Content-Type; the container is made when missing: 201,
//	                                          BlobInfo
//	GET    /containers/{container}/blob?name= the blob's bytes; its content type is in a header of
//	                                          ours, see BlobContentType
//	GET    /servicebus                        {"servicebus": [BusEntity]}: queues, then topics, each
//	                                          with its subscriptions
//	PUT    /servicebus/entity?path=           makes an entity; the body is a NewBusEntity, or empty:
//	                                          201, BusEntity; 409 when it is there
//	DELETE /servicebus/entity?path=           removes an entity with its messages, a topic with its
//	                                          subscriptions too: 200, BusDeleted
//	POST   /servicebus/messages?path=         the body is the message; ?session=, ?id=, ?subject=,
//	                                          ?contentType=, ?correlation=, ?to=, ?replyTo=,
//	                                          ?partitionKey=, ?property=name=text (repeated; name:=5 for
//	                                          numbers, true, false, null), ?delay=30s or
//	                                          ?at=2030-01-31T15:04:05Z, ?ttl=10m: 201, BusSent
//	GET    /servicebus/messages?path=         BusPeeked: up to ?max=32 messages of any state from
//	                                          sequence number ?from=0 on, of ?session=; nothing changes
//	DELETE /servicebus/messages?path=         removes all messages, locked ones too: 200, BusPurged
//	POST   /servicebus/redrive?path=          moves the messages of the path's dead-letter queue that are
//	                                          not locked, or those with ?sequence= (repeated), back to
//	                                          the entity: 200, BusRedriven
//	POST   /servicebus/expire-lock?path=      ends all locks now, or those of ?sequence= (repeated) or
//	                                          ?session=, each a failed delivery: 200, BusExpired
//	GET    /cosmos                            {"cosmos": [CosmosContainer]}
//	PUT    /cosmos/container?container=       makes the container "database/name"; ?partitionKey=/id,
//	                                          ?ranges=1: 201, CosmosContainer; 409 when it is there
//	DELETE /cosmos/container?container=       removes it with its documents and feeds: 204
//	POST   /cosmos/documents?container=       creates or replaces the document in the body, or those in
//	                                          an array; the container is made when missing, as above:
//	                                          201, CosmosWritten
//	GET    /cosmos/documents?container=       CosmosDocuments: up to ?max= of those whose identifiers
//	                                          begin with ?prefix=, or are ?id=
//	DELETE /cosmos/documents?container=       removes the documents with ?id=, without it all: 200,
//	                                          CosmosPurged
//	PUT    /eventgrid/topic?topic=            makes a topic; the body is a NewGridTopic, or empty: 201,
//	                                          GridTopic; 409 when it is there
//	PUT    /eventgrid/subscription?topic=     makes the event subscription ?name=, or changes it; the
//	                                          body is a subscription as in host.json: 201,
//	                                          GridSubscribed
//	DELETE /eventgrid/topic?topic=            removes a topic with its event subscriptions: 200,
//	                                          GridDeleted
//	DELETE /eventgrid/subscription?topic=     removes the event subscription ?name= with its events:
//	                                          200, GridDeleted
//	POST   /eventgrid/events?topic=           publishes the event, or array of events, of the body;
//	                                          required fields that are missing are added unless
//	                                          ?raw=true: 201, GridPublished
//	PUT    /eventhubs/hub?hub=                makes an event hub; the body is a NewHub, or empty: 201,
//	                                          HubCreated
//	PUT    /eventhubs/consumergroup?hub=      makes the consumer group ?group=: 201, GroupCreated
//	POST   /eventhubs/events?hub=             the body is the event; ?key= or ?partition=, ?id=,
//	                                          ?contentType=, ?correlation=, ?property=name=text
//	                                          (repeated): 201, HubSent
//	GET    /outputs                           {"outputs": [host.OutputInfo]}: what was recorded of
//	                                          outputs that are not served, and what is to fail
//	GET    /outputs/values?name=              PeekedOutputs: the latest ?max=32 values of a function's
//	                                          outputs, or of the one "function/binding"
//	PUT    /outputs/fault?name=               makes the next ?times=1 writes of these outputs fail, -1
//	                                          all, 0 none any more; the body is the error: 200,
//	                                          OutputsFailing
//	POST   /functions/{name}/invoke           the body is the trigger's value; waits for the whole
//	                                          retry loop: 200, InvokeResult, also of a failure
//	GET    /journal                           journal records as NDJSON, from ?since=1 on;
//	                                          ?follow=true goes on until the host ends; a line
//	                                          {"missed": n} stands for records no longer kept
//	GET    /clock                             ClockStatus
//	POST   /clock/advance?by=15m              moves a virtual clock and returns when what became
//	                                          due has been worked off: 200, ClockStatus; 409 when
//	                                          the clock is not virtual
//	GET    /state                             the embedded accounts, as one archive
//	PUT    /state                             the body is such an archive and takes their place:
//	                                          200, StateLoaded; 400, and nothing changes, when it
//	                                          is damaged. Deliveries in work settle against nothing
//	DELETE /state                             removes everything from them, and the recorded
//	                                          outputs: 204
//	POST   /reload                            loads the app again: 200, Reloaded; 409 when it was
//	                                          refused
//	POST   /stop                              ends the host: 202
//	GET    /identity?challenge=               Identity: proves by Options.Secret which host it is;
//	                                          needs no key
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
// TLS, the platform's /admin/vfs, key management over HTTP and pages for people.
package web
