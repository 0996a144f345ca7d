package azure_test

import (
	"net/http"
	"testing"

	"github.com/redeliver/redeliver/bindings/azure"
	"github.com/redeliver/redeliver/bindings/bindingtest"
	tableapi "github.com/redeliver/redeliver/bindings/table"
	"github.com/redeliver/redeliver/host/clock"
	"github.com/redeliver/redeliver/host/emulator/rest"
	"github.com/redeliver/redeliver/host/emulator/rest/served"
	emulator "github.com/redeliver/redeliver/host/emulator/storage"
)

// openTableServer serves the tables of an embedded account, and returns its connection string.
func openTableServer(t *testing.T, clk clock.Clock) string {
	t.Helper()
	storage := emulator.New(clk, nil)
	account := rest.Account{Name: rest.DevAccount, Keys: []string{rest.DevKey}, Queues: storage, QueueAdmin: storage, Tables: storage, TableAdmin: storage}
	server, err := served.NewServer(clk, &rest.Options{Accounts: []rest.Account{account}})
	if err == nil {
		err = server.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Errorf("close server: %v", err)
		}
	})
	return server.ConnectionString(account)
}

// connectTables opens the account through the SDK, with connections of its own.
func connectTables(t *testing.T, connectionString string) tableapi.Account {
	t.Helper()
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	account, err := azure.NewTableAccount(connectionString, &azure.Options{HTTPClient: &http.Client{Transport: transport}, Retries: -1})
	if err != nil {
		t.Fatal(err)
	}
	return account
}

// TestTableConformance is the second leg of style 2.7: SDK, socket, server, emulator.
func TestTableConformance(t *testing.T) {
	t.Parallel()
	bindingtest.RunTable(t, func(t *testing.T) *bindingtest.TableBackend {
		clk := clock.NewVirtual(start, &clock.VirtualOptions{Strict: true})
		return &bindingtest.TableBackend{Account: connectTables(t, openTableServer(t, clk)), Opaque: true, Differs: map[string]string{"EmptyKeys": sdkKeys}}
	})
}

// TestAzuriteTableConformance is the third leg of style 2.7: the SDK and a server written by
// others.
func TestAzuriteTableConformance(t *testing.T) {
	t.Parallel()
	requireInterop(t, "node", azuriteTableMain)
	bindingtest.RunTable(t, func(t *testing.T) *bindingtest.TableBackend {
		return &bindingtest.TableBackend{Account: connectTables(t, azuriteTables.open(t)), Opaque: true, Differs: azuriteTablesDiffer}
	})
}

const sdkKeys = "aztables 1.4.1 has no address with an empty key"

// azuriteTablesDiffer lists the tests in which Azurite 3.37.0 goes its own way, as read in
// its answers.
var azuriteTablesDiffer = map[string]string{ // read only
	"EmptyKeys":                       sdkKeys,
	"Filters":                         "numbers of other types, dates below a millisecond, guid literals, constants, the suffix L",
	"FiltersThatAreNone":              "most of them have an answer; the others no position",
	"Limits":                          "names with a dash are taken; KeyValueTooLarge is InvalidInput; 32,768 letters are too many",
	"NumbersByValue":                  "numbers beyond 2^53 are not told apart; L is not read",
	"Pages":                           "a page of 1001 is one of 1000",
	"TagsFollowTheTimestamp":          "a tag with plain colons is another one",
	"TransactionIsOneWrite":           "each entity of a transaction has a Timestamp of its own",
	"TransactionThatFailsDoesNothing": "two partitions, and names that are none, are taken; 101 writes break its answer",
	"WhatIsThere":                     "InvalidOperation for a tag that is none",
}
