// Package bindings holds what functions bind to: the value that crosses between a
// binding and a handler, the binding expressions that place trigger data into paths and
// names, and the conditions that services of several kinds report.
//
// The contract of each service is a package below: queue, blob, servicebus, eventhubs,
// cosmos; storage and messaging hold what two of them share. An implementer can work
// from a contract alone; the suites in bindings/bindingtest hold any implementation to
// it. The embedded services live in host/emulator, the cloud's in bindings/azure.
//
// These packages import the standard library and each other only, and know neither the
// host nor its clock.
package bindings
