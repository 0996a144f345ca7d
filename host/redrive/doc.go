// Package redrive gives the messages of a poison queue back to where they came from: those
// of blobs to the control queue of the host's blob trigger.
//
// Read [Messages]. Dead letters of Service Bus and of Event Grid are moved by their services.
package redrive
