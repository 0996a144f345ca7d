package run

import (
	"fmt"

	"github.com/redeliver/redeliver/cmd/redeliver/cli"
	"github.com/redeliver/redeliver/cmd/redeliver/remote"
	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/emulator/rest"
)

// accounts are the storage accounts to serve, as with Azurite: the accounts of its
// variable, else the account of every emulator.
func accounts(env []string) ([]rest.Account, error) {
	value := app.Environment(env)[rest.AccountsVariable]
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

// storageKeys are the keys of the served accounts, except the documented one.
func (s *session) storageKeys() (out []remote.StorageKey) {
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
