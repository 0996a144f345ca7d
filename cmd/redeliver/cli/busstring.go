package cli

import (
	"net"
)

// TopicEndpoint is where events for a topic of Event Grid are published.
func TopicEndpoint(base, topic string) string { return base + "/" + topic + "/api/events" }

// usualBusPort is the one that clients take when an address has none, AMQP's own.
const usualBusPort = "5672"

// BusConnection is the connection string of an emulator at an address.
func BusConnection(address string) string {
	if host, port, err := net.SplitHostPort(address); err == nil && port == usualBusPort {
		address = host
	}
	return "Endpoint=sb://" + address + ";SharedAccessKeyName=RootManageSharedAccessKey;SharedAccessKey=SAS_KEY_VALUE;UseDevelopmentEmulator=true;"
}
