package services

import (
	"net/url"
	"strings"

	"github.com/redeliver/redeliver/host/app/appsettings"
)

// isEmbeddedBus reports whether a connection means the embedded namespace: the connection
// string of an emulator at this place, or an identity there, since no namespace of the cloud
// is on this machine.
func (d servers) isEmbeddedBus(conn appsettings.Connection) bool {
	parts := Fields(conn)
	endpoint := parts["endpoint"]
	if conn.Value == "" {
		endpoint = "sb://" + parts[fullyQualified]
	} else if !strings.EqualFold(parts["usedevelopmentemulator"], "true") {
		return false
	}
	at := serviceBusAddress(endpoint)
	return at != "" && (namesNoPort(endpoint) || at == d.at(serviceBusService))
}

// EmulatorConnection reports whether a setting's value is a connection string of a
// Service Bus emulator on this machine, at the usual port or at none that it names:
// one that this host may be meant to serve.
func EmulatorConnection(value string) bool {
	parts := Fields(appsettings.Connection{Value: value})
	return strings.EqualFold(parts["usedevelopmentemulator"], "true") && serviceBusAddress(parts["endpoint"]) == devServiceBusAddress
}

// NamespaceConnection reports whether a setting leads to a namespace of Service Bus or
// Event Hubs, wherever it is: by a connection string, or by an identity.
func NamespaceConnection(name, value string) bool {
	_, part := identityPart(name)
	return part == fullyQualified && value != "" ||
		strings.HasPrefix(strings.ToLower(Fields(appsettings.Connection{Value: value})["endpoint"]), "sb://")
}

// namesNoPort reports whether an endpoint is this machine and nothing else.
func namesNoPort(endpoint string) bool {
	u, err := url.Parse(endpoint)
	return err == nil && u.Port() == "" && serviceBusAddress(endpoint) == devServiceBusAddress
}

// busSetting is the value of a setting as a handler process is given it: a
// connection string of an emulator without a port leads to the server.
func (d servers) busSetting(value string) string {
	at := d.at(serviceBusService)
	if at == "" || at == devServiceBusAddress {
		return value
	}
	parts := Fields(appsettings.Connection{Value: value})
	if !strings.EqualFold(parts["usedevelopmentemulator"], "true") || !namesNoPort(parts["endpoint"]) {
		return value
	}
	list := strings.Split(value, ";")
	for i, part := range list {
		if name, _, _ := strings.Cut(part, "="); strings.EqualFold(strings.TrimSpace(name), "endpoint") {
			list[i] = "Endpoint=sb://" + at
		}
	}
	return strings.Join(list, ";")
}

// serviceBusAddress is the address of an endpoint, sb://host[:port].
func serviceBusAddress(endpoint string) string {
	u, err := url.Parse(endpoint)
	if err != nil || u.Hostname() == "" {
		return ""
	}
	port := u.Port()
	if port == "" {
		port = "5672"
	}
	return address(u.Hostname(), port)
}
