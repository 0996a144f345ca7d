// Package servicebus is the trigger for Service Bus queues and topic
// subscriptions.
//
// A [Listener] takes messages under a lock, keeps the lock while the function
// runs with all its attempts, and settles: complete after success, abandon after
// failure. Counting deliveries and dead-lettering at the limit are the service's
// part. Three ways of dispatch exist, as in the platform's extension: one message
// at a time with many in work (listener.go), batches (batch.go), and sessions,
// of either (session.go).
//
// Read [Options] first, then settle.go for what becomes of a message.
//
// Source: Microsoft.Azure.WebJobs.Extensions.ServiceBus,
// src/Listeners/ServiceBusListener.cs, and the processor of
// Azure.Messaging.ServiceBus; spec messaging 2.
//
// Left out: dynamic concurrency, transactions across entities, and settling
// messages one by one from the handler while it runs.
package servicebus
