package cli

import (
	"net"
	"strconv"

	"github.com/redeliver/redeliver/host/emulator/amqp"
)

// TopicEndpoint is where events for a topic of Event Grid are published.
func TopicEndpoint(base, topic string) string { return base + "/" + topic + "/api/events" }

// BusConnection is the connection string of an emulator at an address.
func BusConnection(address string) string {
	if host, port, err := net.SplitHostPort(address); err == nil && port == strconv.Itoa(amqp.DefaultPort) {
		address = host
	}
	return "Endpoint=sb://" + address + ";SharedAccessKeyName=RootManageSharedAccessKey;SharedAccessKey=SAS_KEY_VALUE;UseDevelopmentEmulator=true;"
}
