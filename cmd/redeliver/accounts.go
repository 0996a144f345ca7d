package main

import (
	"fmt"

	"github.com/redeliver/redeliver/host/emulator/rest"
)

// accounts are the storage accounts that are served, as Azurite has it: those
// that its variable names, else the one that every emulator has.
func accounts(env []string) ([]rest.Account, error) {
	value := environment(env)[rest.AccountsVariable]
	list, err := rest.ParseAccounts(value)
	if err != nil {
		return nil, hinted(fmt.Errorf("%s: %w", rest.AccountsVariable, err), "it holds name:key1[:key2] for each account, separated by semicolons, with keys in base64")
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

// storageKey is a key of a storage account that somebody chose.
type storageKey struct {
	Account string   `json:"account"`
	Keys    []string `json:"keys"`
}

// storageKeys are the keys of the accounts that are served, other than the one that
// everybody knows.
func (s *session) storageKeys() (out []storageKey) {
	if s.storage == nil {
		return nil
	}
	for _, a := range s.accounts {
		if !publicKey(a) {
			out = append(out, storageKey{a.Name, a.Keys})
		}
	}
	return out
}
