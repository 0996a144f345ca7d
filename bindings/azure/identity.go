package azure

import (
	"fmt"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
)

// Identity is an identity-based connection: settings of the form
// CONNECTION__name in place of a connection string.
//
// Source: spec storage 13; docs, "Configure an identity-based connection".
type Identity struct {
	// QueueEndpoint, BlobEndpoint and TableEndpoint are the addresses of the account's
	// services, without a slash at the end; empty when the connection does not give them.
	QueueEndpoint, BlobEndpoint, TableEndpoint string

	// Namespace is the host name of a messaging namespace, such as
	// "acme.servicebus.windows.net"; empty when the connection does not give it.
	Namespace string

	// Credential is "" for DefaultAzureCredential, "managedidentity" for the
	// identity of the machine.
	Credential string

	// ClientID and ResourceID choose one of several managed identities. With a
	// tenant and a secret ClientID is an application.
	ClientID, ResourceID, TenantID, ClientSecret string
}

// ParseIdentity reads the section of a connection; names are not case-sensitive,
// unknown ones are ignored. accountName gives the addresses in the public cloud,
// which blobServiceUri, queueServiceUri, tableServiceUri and serviceUri (of any) override;
// fullyQualifiedNamespace names a messaging namespace.
func ParseIdentity(section map[string]string) (*Identity, error) {
	parts := map[string]string{}
	for name, value := range section {
		parts[strings.ToLower(name)] = strings.TrimSpace(value)
	}
	id := &Identity{
		Credential: strings.ToLower(parts["credential"]), ClientID: parts["clientid"], TenantID: parts["tenantid"],
		ClientSecret: parts["clientsecret"], ResourceID: parts["managedidentityresourceid"],
		Namespace: parts["fullyqualifiednamespace"],
	}
	account := parts["accountname"]
	for _, e := range []struct {
		service string
		to      *string
	}{{"queue", &id.QueueEndpoint}, {"blob", &id.BlobEndpoint}, {"table", &id.TableEndpoint}} {
		name := e.service + "ServiceUri"
		given := parts[strings.ToLower(name)]
		if given == "" {
			name, given = "serviceUri", parts["serviceuri"]
		}
		if given == "" && account != "" {
			name, given = "accountName", "https://"+account+"."+e.service+".core.windows.net"
		}
		if given == "" {
			continue
		}
		u, err := parseEndpoint(name, given)
		if err != nil {
			return nil, fmt.Errorf("identity-based connection: %w", err)
		}
		if u.Scheme != "https" {
			return nil, fmt.Errorf("identity-based connection: %s %q: tokens are sent over https only", name, given)
		}
		*e.to = strings.TrimRight(given, "/")
	}
	switch {
	case id.QueueEndpoint == "" && id.BlobEndpoint == "" && id.TableEndpoint == "" && id.Namespace == "":
		return nil, fmt.Errorf("identity-based connection: accountName, blobServiceUri, queueServiceUri, tableServiceUri or fullyQualifiedNamespace is missing")
	case strings.ContainsAny(id.Namespace, "/: "):
		return nil, fmt.Errorf("identity-based connection: fullyQualifiedNamespace %q: want a host name such as acme.servicebus.windows.net", id.Namespace)
	case id.Credential != "" && id.Credential != "managedidentity":
		return nil, fmt.Errorf("identity-based connection: credential %q: want managedidentity, or none for the default credential", parts["credential"])
	case id.Credential == "" && id.ClientSecret != "" && (id.TenantID == "" || id.ClientID == ""):
		return nil, fmt.Errorf("identity-based connection: clientSecret needs tenantId and clientId")
	}
	return id, nil
}

// TokenCredential makes the credential. It asks for a token only when a call needs
// one.
func (id *Identity) TokenCredential(opts *Options) (azcore.TokenCredential, error) {
	client := policy.ClientOptions{}
	if opts != nil && opts.HTTPClient != nil {
		client.Transport = opts.HTTPClient
	}
	switch {
	case id.Credential == "managedidentity":
		o := &azidentity.ManagedIdentityCredentialOptions{ClientOptions: client}
		switch {
		case id.ResourceID != "":
			o.ID = azidentity.ResourceID(id.ResourceID)
		case id.ClientID != "":
			o.ID = azidentity.ClientID(id.ClientID)
		}
		return azidentity.NewManagedIdentityCredential(o)
	case id.ClientSecret != "":
		return azidentity.NewClientSecretCredential(id.TenantID, id.ClientID, id.ClientSecret, &azidentity.ClientSecretCredentialOptions{ClientOptions: client})
	}
	return azidentity.NewDefaultAzureCredential(&azidentity.DefaultAzureCredentialOptions{ClientOptions: client, TenantID: id.TenantID})
}

// credentialAt is TokenCredential for a service at a place that a setting gives.
func (id *Identity) credentialAt(place, setting string, opts *Options) (azcore.TokenCredential, error) {
	if place == "" {
		return nil, fmt.Errorf("identity-based connection: %s is missing", setting)
	}
	return id.TokenCredential(opts)
}

// NewQueueAccountWithIdentity returns the queues of an identity-based connection.
// Nothing is sent before the first call.
func NewQueueAccountWithIdentity(id *Identity, opts *Options) (*QueueAccount, error) {
	cred, err := id.credentialAt(id.QueueEndpoint, "queueServiceUri", opts)
	if err != nil {
		return nil, err
	}
	return NewQueueAccountWithCredential(id.QueueEndpoint, cred, opts)
}

// NewTableAccountWithIdentity returns the tables of an identity-based connection.
// Nothing is sent before the first call.
func NewTableAccountWithIdentity(id *Identity, opts *Options) (*TableAccount, error) {
	cred, err := id.credentialAt(id.TableEndpoint, "tableServiceUri", opts)
	if err != nil {
		return nil, err
	}
	return NewTableAccountWithCredential(id.TableEndpoint, cred, opts)
}

// NewBlobAccountWithIdentity returns the blobs of an identity-based connection.
// Nothing is sent before the first call.
func NewBlobAccountWithIdentity(id *Identity, opts *Options) (*BlobAccount, error) {
	cred, err := id.credentialAt(id.BlobEndpoint, "blobServiceUri", opts)
	if err != nil {
		return nil, err
	}
	return NewBlobAccountWithCredential(id.BlobEndpoint, cred, opts)
}
