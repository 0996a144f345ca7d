package run

import (
	"fmt"
	"net/url"
	"strconv"

	"github.com/redeliver/redeliver/cmd/redeliver/cli"
	"github.com/redeliver/redeliver/cmd/redeliver/remote"
	"github.com/redeliver/redeliver/host/app/appsettings"
	"github.com/redeliver/redeliver/host/emulator/rest"
	"github.com/redeliver/redeliver/host/services"
)

// accounts are the storage accounts to serve, as with Azurite: the accounts of its
// variable, else the account of every emulator.
func accounts(env []string) ([]rest.Account, error) {
	value := appsettings.Environment(env)[rest.AccountsVariable]
	list, err := rest.ParseAccounts(value)
	if err != nil {
		return nil, cli.Hinted(fmt.Errorf("%s: %w", rest.AccountsVariable, err), "it holds name:key1[:key2] for each account, separated by semicolons, with keys in base64")
	}
	if len(list) == 0 {
		list = []rest.Account{{Name: rest.DevAccount, Keys: []string{rest.DevKey}}}
	}
	return list, nil
}

// accountNames are the names of accounts.
func accountNames(list []rest.Account) []string {
	var names []string
	for _, a := range list {
		names = append(names, a.Name)
	}
	return names
}

// publicKey reports whether the key of an account is the documented one.
func publicKey(a rest.Account) bool {
	return a.Name == rest.DevAccount && a.Keys[0] == rest.DevKey
}

// embeddedStorage is the storage that a run serves, as clients and handlers find it.
type embeddedStorage struct {
	accounts []rest.Account // served where their ports are open
	storage  *rest.Server   // nil when it is not served
}

// storageURLs are the addresses of the embedded blobs and queues; empty for a
// service that is not served.
func (s *embeddedStorage) storageURLs() (blobs, queues string) {
	if s.storage == nil {
		return "", ""
	}
	return s.storage.BlobURL(), s.storage.QueueURL()
}

// tablesURL is the address of the embedded tables, likewise.
func (s *embeddedStorage) tablesURL() string {
	if s.storage == nil {
		return ""
	}
	return s.storage.TableURL()
}

// usualStorage reports whether UseDevelopmentStorage=true leads an SDK here.
func (s *embeddedStorage) usualStorage() bool {
	tables := s.tablesURL()
	return usualStorage(s.storageURLs()) && (tables == "" || usualPort(tables, rest.DefaultTablePort))
}

func usualStorage(blobs, queues string) bool {
	return usualPort(blobs, rest.DefaultBlobPort) && usualPort(queues, rest.DefaultQueuePort)
}

func usualPort(address string, port int) bool {
	u, err := url.Parse(address)
	return err == nil && u.Scheme == "http" && u.Port() == strconv.Itoa(port)
}

// handlerStorage is the connection string that handlers get in the place of
// UseDevelopmentStorage=true, so that SDKs in them find the services; empty when they
// find them anyway, or when there is nothing to find.
func (s *embeddedStorage) handlerStorage() string {
	if s.storage == nil || s.usualStorage() {
		return ""
	}
	for _, a := range s.accounts {
		if a.Name == services.FirstAccount {
			return s.storage.ConnectionString(a)
		}
	}
	return ""
}

// accountStrings are the connection strings of the accounts that are served, for handlers.
func (s *embeddedStorage) accountStrings() map[string]string {
	out := map[string]string{}
	if s.storage != nil {
		for _, a := range s.accounts {
			out[a.Name] = s.storage.ConnectionString(a)
		}
	}
	return out
}

// connectionStrings are the connection strings of an account for clients, the
// shortest first. Keys of the user's own stay with the user.
func (s *embeddedStorage) connectionStrings(a rest.Account) []string {
	if !publicKey(a) {
		a.Keys = []string{"..."}
	}
	long := s.storage.ConnectionString(a)
	if publicKey(a) && s.usualStorage() {
		return []string{"UseDevelopmentStorage=true", long}
	}
	return []string{long}
}

// storageStrings is the full connection string of each account that is served.
func (s *embeddedStorage) storageStrings() []string {
	if s.storage == nil {
		return nil
	}
	var out []string
	for _, a := range s.accounts {
		list := s.connectionStrings(a)
		out = append(out, list[len(list)-1])
	}
	return out
}

// storageKeys are the keys of the served accounts, except the documented one.
func (s *embeddedStorage) storageKeys() (out []remote.StorageKey) {
	if s.storage == nil {
		return nil
	}
	for _, a := range s.accounts {
		if !publicKey(a) {
			out = append(out, remote.StorageKey{Account: a.Name, Keys: a.Keys})
		}
	}
	return out
}
