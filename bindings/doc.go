// Package bindings holds what functions bind to: the services (queues now,
// blobs, entities, hubs and topics as their triggers arrive), the value that
// crosses between a binding and a handler, and the binding expressions that
// place trigger data into paths and names.
//
// Read [queue.Queue] first: it is the model for every service interface. Each one is
// a contract that an implementer can work from alone; the suites in
// bindings/bindingtest hold any implementation to it. The embedded services
// live in host/emulator, the cloud's in bindings/azure.
//
// The package imports the standard library only and knows neither the host nor
// its clock.
package bindings
