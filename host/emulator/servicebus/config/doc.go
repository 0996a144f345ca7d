// Package config reads the entity file of the official Service Bus emulator, its
// Config.json, and makes a namespace have what it says. It reads the file of the
// Event Hubs emulator too, which has the same name and another form.
//
// Read [Parse] first, then [Entities.Apply]; [ParseHubs] for the other file. reader.go is how values are read and
// faults are found: every one in one go, with file, position, JSON path and what may
// stand there. Keys match in any letter case.
//
// Limits are the service's limits, not the smaller ones of the official emulator: a
// maxDeliveryCount of 100 or a time to live of 14 days is good here. So are all
// settings that the service has and the official file does not (status,
// autoDeleteOnIdle, maxSizeInMegabytes, ...), under their names there. Missing
// settings have the service's defaults.
//
// Source: spec messaging 1.1 and 3.12; azure-service-bus-emulator-installer:
// ServiceBus-Emulator/Schema/Config-schema.json; azure-event-hubs-emulator-installer:
// EventHub-Emulator/Schema/Config-schema.json.
//
// It leaves out the file's logging section, which is checked and has no effect.
package config
