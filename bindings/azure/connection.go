package azure

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// The account of every emulator of Azure Storage, and where it is looked for.
// The key is documented and no secret (docs: Connect to the emulator account
// using the shortcut).
const (
	devAccount  = "devstoreaccount1"
	devKey      = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
	devHost     = "127.0.0.1"
	devBlobPort = "10000"
	devQueue    = "10001"
	devTable    = "10002"
)

// Connection is a storage connection string, taken apart.
type Connection struct {
	Account string // empty for a bare endpoint with a SAS
	Key     string // base64; empty when there is a SAS
	SAS     string // without a question mark; empty when there is a key

	// Endpoints of the account, without a slash at the end; empty when the string
	// does not give them and has no account either.
	QueueEndpoint, BlobEndpoint, TableEndpoint string
}

// ParseConnectionString reads a storage connection string. Names of fields are
// not case-sensitive, unknown ones are ignored. Errors name fields and never
// show a key.
//
// Source: docs, Configure Azure Storage connection strings.
func ParseConnectionString(s string) (*Connection, error) {
	fields := map[string]string{}
	for part := range strings.SplitSeq(s, ";") {
		if strings.TrimSpace(part) == "" {
			continue
		}
		name, value, ok := strings.Cut(part, "=")
		name = strings.ToLower(strings.TrimSpace(name))
		if !ok || name == "" {
			return nil, errors.New("connection string: want fields of the form name=value, separated by semicolons")
		}
		if _, twice := fields[name]; twice {
			return nil, fmt.Errorf("connection string: field %q is given twice", name)
		}
		fields[name] = strings.TrimSpace(value)
	}
	if len(fields) == 0 {
		return nil, errors.New("connection string: empty")
	}
	if development, given := fields["usedevelopmentstorage"]; given {
		if !strings.EqualFold(development, "true") {
			return nil, errors.New("connection string: UseDevelopmentStorage must be true")
		}
		return developmentConnection(fields["developmentstorageproxyuri"])
	}
	return accountConnection(fields)
}

func developmentConnection(proxy string) (*Connection, error) {
	base := "http://" + devHost
	if proxy != "" {
		u, err := parseEndpoint("DevelopmentStorageProxyUri", proxy)
		if err != nil {
			return nil, fmt.Errorf("connection string: %w", err)
		}
		base = u.Scheme + "://" + u.Hostname()
		if strings.Contains(u.Hostname(), ":") {
			base = u.Scheme + "://[" + u.Hostname() + "]"
		}
	}
	return &Connection{
		Account: devAccount, Key: devKey,
		QueueEndpoint: base + ":" + devQueue + "/" + devAccount,
		BlobEndpoint:  base + ":" + devBlobPort + "/" + devAccount,
		TableEndpoint: base + ":" + devTable + "/" + devAccount,
	}, nil
}

func accountConnection(fields map[string]string) (*Connection, error) {
	c := &Connection{
		Account: fields["accountname"],
		Key:     fields["accountkey"],
		SAS:     strings.TrimPrefix(fields["sharedaccesssignature"], "?"),
	}
	protocol, suffix := fields["defaultendpointsprotocol"], fields["endpointsuffix"]
	if protocol == "" {
		protocol = "https"
	}
	if protocol != "https" && protocol != "http" {
		return nil, fmt.Errorf("connection string: DefaultEndpointsProtocol %q: want https or http", protocol)
	}
	if suffix == "" {
		suffix = "core.windows.net"
	}
	for _, e := range []struct {
		field, service string
		to             *string
	}{{"QueueEndpoint", "queue", &c.QueueEndpoint}, {"BlobEndpoint", "blob", &c.BlobEndpoint}, {"TableEndpoint", "table", &c.TableEndpoint}} {
		given := fields[strings.ToLower(e.field)]
		if given == "" && c.Account != "" {
			given = protocol + "://" + c.Account + "." + e.service + "." + suffix
		}
		if given == "" {
			continue
		}
		if _, err := parseEndpoint(e.field, given); err != nil {
			return nil, fmt.Errorf("connection string: %w", err)
		}
		*e.to = strings.TrimRight(given, "/")
	}
	switch {
	case c.QueueEndpoint == "" && c.BlobEndpoint == "" && c.TableEndpoint == "":
		return nil, errors.New("connection string: AccountName or an endpoint is missing")
	case c.Key == "" && c.SAS == "":
		return nil, errors.New("connection string: AccountKey or SharedAccessSignature is missing")
	case c.Key != "" && c.SAS != "":
		return nil, errors.New("connection string: AccountKey and SharedAccessSignature exclude each other")
	case c.Key != "" && c.Account == "":
		return nil, errors.New("connection string: AccountName is missing")
	}
	if _, err := base64.StdEncoding.DecodeString(c.Key); err != nil {
		return nil, errors.New("connection string: AccountKey is not base64")
	}
	return c, nil
}

// parseEndpoint checks an address of a service.
func parseEndpoint(field, text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		return nil, fmt.Errorf("%s %q: want an address such as http://127.0.0.1:10001/account", field, text)
	}
	return u, nil
}
