// Package atom is the administration API of Service Bus: what the official
// administration clients talk to, ATOM entries over HTTP.
//
// A [Handler] serves one namespace, a servicebus.Admin. Read handler.go
// first, for the way of one request, then target.go for addresses:
//
//	PUT GET DELETE  /{queue or topic}                            entity.go, queue.go, topic.go
//	PUT GET DELETE  /{topic}/Subscriptions/{subscription}        subscription.go
//	PUT GET DELETE  /{topic}/Subscriptions/{subscription}/Rules/{rule}    rule.go
//	GET             /$Resources/queues, /$Resources/topics       feed.go
//	GET             /{topic}/Subscriptions, .../Rules
//	GET             /$namespaceinfo                              namespace.go
//	GET             /health                                      health.go
//
// A PUT with If-Match is an update. element.go and fields.go read XML, writer.go
// writes it; values.go are the typed values of filters.
//
// The clients need exact forms in places that look free, and the comments say which
// client: the prefixes d2p1 and d6p1 (JavaScript compares text), the two links of a
// feed (Python counts them), the id of an entry (JavaScript takes names from it),
// its title (.NET and Go do), an action in every rule (Go). Elements are written in
// the order of the service's data contracts and read in any order.
//
// Reference: spec messaging 3.11; azure-sdk-for-go: sdk/messaging/azservicebus
// (admin, internal/atom); azure-sdk-for-js: sdk/servicebus/service-bus (serializers,
// util/atomXmlHelper.ts); azure-sdk-for-python: azure-servicebus (management);
// azure-sdk-for-net: Azure.Messaging.ServiceBus (Administration).
//
// It leaves out authorization rules of a namespace, and sending and receiving over
// HTTP.
package atom
