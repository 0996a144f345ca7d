package rest

import (
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/redeliver/redeliver/bindings/blob"
	"github.com/redeliver/redeliver/bindings/queue"
	"github.com/redeliver/redeliver/bindings/table"
)

// The account that every Azure Storage emulator has. Its key is documented and
// no secret (docs: Connect to the emulator account using the shortcut).
const (
	DevAccount = "devstoreaccount1"
	DevKey     = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
)

// The ports that connection strings of an emulator name when they name none.
const (
	DefaultBlobPort  = 10000
	DefaultQueuePort = 10001
	DefaultTablePort = 10002
)

// AccountsVariable is the environment variable in which Azurite looks for
// accounts, and so do we; see [ParseAccounts].
const AccountsVariable = "AZURITE_ACCOUNTS"

// Account is a storage account as a Server serves it.
type Account struct {
	Name string
	Keys []string // base64; one or two

	// Queues and QueueAdmin are two sides of the same queues.
	Queues     queue.Account
	QueueAdmin queue.Admin

	Blobs blob.Account // nil: no blobs are served

	// Tables and TableAdmin are two sides of the same tables; nil: none are served.
	Tables     table.Account
	TableAdmin table.Admin
}

// ParseAccounts reads the value of AccountsVariable: "name:key", or
// "name:key1:key2", for each account, separated by semicolons. Accounts come
// without services. An empty value is no accounts.
func ParseAccounts(s string) ([]Account, error) {
	var accounts []Account
	for entry := range strings.SplitSeq(s, ";") {
		entry = strings.TrimSpace(entry)
		if entry == "" {
			continue
		}
		parts := strings.Split(entry, ":")
		if len(parts) < 2 { // it may be a key, which is not repeated
			return nil, errors.New("an account has no colon: want name:key or name:key1:key2")
		}
		if len(parts) > 3 {
			return nil, fmt.Errorf("account %q: want name:key or name:key1:key2", parts[0])
		}
		a := Account{Name: parts[0], Keys: parts[1:]}
		if len(a.Keys) == 2 && a.Keys[1] == "" {
			a.Keys = a.Keys[:1]
		}
		served, err := a.served()
		if err != nil {
			return nil, err
		}
		for i, key := range served.keys {
			a.Keys[i] = base64.StdEncoding.EncodeToString(key) // as every client reads it
		}
		for _, other := range accounts {
			if other.Name == a.Name {
				return nil, fmt.Errorf("account %q: given twice", a.Name)
			}
		}
		accounts = append(accounts, a)
	}
	return accounts, nil
}

// Stored is an Account with its keys decoded.
type Stored struct {
	Account
	keys [][]byte
}

func (a Account) served() (*Stored, error) {
	if a.Name == "" {
		return nil, errors.New("account without a name")
	}
	if strings.ContainsAny(a.Name, "/.?# ") || strings.HasSuffix(a.Name, secondarySuffix) {
		return nil, fmt.Errorf("account %q: not a name that an address can hold", a.Name)
	}
	out := &Stored{Account: a}
	for _, key := range a.Keys {
		b, err := decodeKey(key)
		if err != nil || len(b) == 0 {
			return nil, fmt.Errorf("account %q: a key is not base64", a.Name)
		}
		out.keys = append(out.keys, b)
	}
	return out, nil
}

// decodeKey reads a key in base64, in either alphabet, with its padding or without,
// as Azurite does.
func decodeKey(key string) ([]byte, error) {
	key = strings.NewReplacer("-", "+", "_", "/").Replace(strings.TrimRight(key, "="))
	return base64.RawStdEncoding.DecodeString(key)
}

// ConnectionString returns what a client is given to reach an account of the
// server, with the services that have a port. It is for after Start.
func (s *Server) ConnectionString(a Account) string {
	key := ""
	if len(a.Keys) > 0 {
		key = a.Keys[0]
	}
	scheme := "http"
	if s.opts.TLS != nil {
		scheme = "https"
	}
	var endpoints []string
	for _, d := range s.fronts {
		if url := s.URL(d.service.Name); url != "" {
			endpoints = append(endpoints, d.service.Endpoint+"="+url+"/"+a.Name+";")
		}
	}
	slices.Sort(endpoints)
	return fmt.Sprintf("DefaultEndpointsProtocol=%s;AccountName=%s;AccountKey=%s;%s", scheme, a.Name, key, strings.Join(endpoints, ""))
}

// ConnectionString returns what a client is given to reach an account's queues
// at a server's address (Server.QueueURL).
func (a Account) ConnectionString(queueURL string) string {
	scheme, _, _ := strings.Cut(queueURL, "://")
	key := ""
	if len(a.Keys) > 0 {
		key = a.Keys[0]
	}
	return fmt.Sprintf("DefaultEndpointsProtocol=%s;AccountName=%s;AccountKey=%s;QueueEndpoint=%s/%s;",
		scheme, a.Name, key, queueURL, a.Name)
}
