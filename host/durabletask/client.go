package durabletask

import "github.com/redeliver/redeliver/bindings/durable"

// ClientInput is what a function with a durableClient is given in protocol A, as JSON (spec
// durable 8.5).
type ClientInput struct {
	TaskHubName                   string     `json:"taskHubName"`
	ConnectionName                *string    `json:"connectionName"`
	CreationURLs                  Creation   `json:"creationUrls"`
	ManagementURLs                Management `json:"managementUrls"`
	BaseURL                       string     `json:"baseUrl"`
	RequiredQueryStringParameters string     `json:"requiredQueryStringParameters"`
	RPCBaseURL                    string     `json:"rpcBaseUrl,omitempty"`
	MaxGRPCMessageSizeInBytes     *int       `json:"maxGrpcMessageSizeInBytes"`
	GRPCHTTPClientTimeout         *string    `json:"grpcHttpClientTimeout"`
	HTTPBaseURL                   *string    `json:"httpBaseUrl"`
}

// ProtobufInput is what a function with a durableClient is given in protocol B, as JSON.
type ProtobufInput struct {
	TaskHubName                   string    `json:"taskHubName"`
	ConnectionName                *string   `json:"connectionName"`
	CreationURLs                  *struct{} `json:"creationUrls"`
	ManagementURLs                *struct{} `json:"managementUrls"`
	BaseURL                       *string   `json:"baseUrl"`
	RequiredQueryStringParameters string    `json:"requiredQueryStringParameters"`
	RPCBaseURL                    string    `json:"rpcBaseUrl"`
	HTTPBaseURL                   string    `json:"httpBaseUrl"`
	UseForwardedHost              bool      `json:"useForwardedHost"`
	MaxGRPCMessageSizeInBytes     int       `json:"maxGrpcMessageSizeInBytes"`
	GRPCHTTPClientTimeout         string    `json:"grpcHttpClientTimeout"` // JSON in a text, as on the platform
}

// Creation are the addresses at which instances are started.
type Creation struct {
	Create     string `json:"createNewInstancePostUri"`
	CreateWait string `json:"createAndWaitOnNewInstancePostUri"`
}

// AnyInstance is the id in a client's addresses, which packages replace.
const AnyInstance = "INSTANCEID"

// Client is what a function with a durableClient of a hub is given; connection is the
// binding's, or "". With rpc the RPC server is opened, if it is not open yet.
func (a *API) Client(hub durable.Hub, connection string, rpc bool) (*ClientInput, error) {
	origin, code := a.base()
	l := Links{Origin: origin, Hub: hub.Name(), Connection: connection, Code: code}
	start := l.Base() + "/orchestrators/{functionName}[/{instanceId}]"
	out := &ClientInput{
		TaskHubName: l.Hub, ManagementURLs: l.Instance(AnyInstance), BaseURL: l.Base(), RequiredQueryStringParameters: l.key(),
		CreationURLs: Creation{Create: start + "?" + l.key(), CreateWait: start + "?timeout={timeoutInSeconds}&pollingInterval={intervalInSeconds}&" + l.key()},
	}
	if !rpc {
		return out, nil
	}
	var err error
	out.RPCBaseURL, err = a.RPC()
	return out, err
}

// ProtobufClient is Client for functions that speak the protobuf protocol. The gRPC service
// is opened, if it is not open yet.
func (a *API) ProtobufClient(hub durable.Hub, connection string) (*ProtobufInput, error) {
	origin, code := a.base()
	l := Links{Origin: origin, Code: code}
	address, err := a.GRPC()
	if err != nil {
		return nil, err
	}
	out := &ProtobufInput{
		TaskHubName: hub.Name(), RequiredQueryStringParameters: l.key(), RPCBaseURL: address, HTTPBaseURL: l.Base(),
		UseForwardedHost: a.opts.Forwarded != nil && a.opts.Forwarded(), MaxGRPCMessageSizeInBytes: 4 << 20, GRPCHTTPClientTimeout: `"00:01:40"`,
	}
	if connection != "" {
		out.ConnectionName = &connection
	}
	return out, nil
}
