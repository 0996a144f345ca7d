package main

import (
	"crypto/tls"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/emulator/rest"
	"github.com/redeliver/redeliver/host/listen"
	"github.com/redeliver/redeliver/host/services"
)

// noDoor is the port of a door that stays closed.
const noDoor = -1

// doorPort is the value of a flag for a door: a port, 0 for any free
// one, or "off".
type doorPort int

// String implements pflag.Value.
func (p *doorPort) String() string {
	if *p == noDoor {
		return "off"
	}
	return strconv.Itoa(int(*p))
}

// Set implements pflag.Value.
func (p *doorPort) Set(text string) error {
	if text == "off" {
		*p = noDoor
		return nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < noDoor || n > 65535 {
		return errors.New("want a number from 0 to 65535, or off")
	}
	*p = doorPort(n)
	return nil
}

// Type implements pflag.Value.
func (p *doorPort) Type() string { return "port" }

// addDoors adds the flags of the storage doors.
func addDoors(cmd *cobra.Command, f *startFlags) {
	f.blobPort, f.queuePort = rest.DefaultBlobPort, rest.DefaultQueuePort
	cmd.Flags().Var(&f.blobPort, "blob-port", "port at which storage SDKs find the blobs; 0 for any free one, off for none")
	cmd.Flags().Var(&f.queuePort, "queue-port", "port at which storage SDKs find the queues, likewise")
	cmd.Flags().BoolVar(&f.strictDates, "strict-dates", false, "refuse storage requests dated more than 15 minutes off the clock")
}

// accounts are the storage accounts that doors serve, as Azurite has it: those
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

// doorsGiven reports whether somebody asked for the doors of storage: by a port, or
// by accounts.
func doorsGiven(cmd *cobra.Command) bool {
	return cmd.Flags().Changed("blob-port") || cmd.Flags().Changed("queue-port") || os.Getenv(rest.AccountsVariable) != ""
}

// doorsWanted reports whether the embedded storage is to be served: somebody asked
// for it, or the app may mean it. An app whose own storage is elsewhere, and none of
// whose settings names an emulator here, takes no ports for it.
func (s *session) doorsWanted(a *app.App) bool {
	f := s.flags
	if f.queuePort == noDoor && f.blobPort == noDoor {
		return false
	}
	if _, named := a.Settings.Connection("Storage"); f.doorsGiven || f.servicesOnly || !named {
		return true
	}
	for _, value := range a.Settings.All() {
		if services.EmulatorStorage(value, int(f.queuePort), int(f.blobPort)) {
			return true
		}
	}
	s.otherStorage = true
	return false
}

// openDoors serves the embedded storage accounts over HTTP, on loopback only,
// and tells the host where.
func (s *session) openDoors(a *app.App) error {
	if s.doorsWanted(a) {
		if err := s.serveDoors(); err != nil {
			return err
		}
		s.warnUnserved(a)
	}
	s.host.Connections().StorageAt(s.doorURLs())
	s.host.Connections().DevelopmentStorage(s.handlerStorage())
	return nil
}

// warnUnserved says that the app uses an account that no client reaches: the one
// that UseDevelopmentStorage=true means, where the list of accounts leaves it out.
func (s *session) warnUnserved(a *app.App) {
	if slices.Contains(accountNames(s.accounts), services.FirstAccount) {
		return
	}
	why := ""
	if _, named := a.Settings.Connection("Storage"); !named {
		why = "without AzureWebJobsStorage the commands use it"
	}
	settings := a.Settings.All()
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		if services.EmulatorStorage(settings[name]) {
			why = name + " means it (UseDevelopmentStorage=true)"
			break
		}
	}
	if why == "" {
		return
	}
	s.out.warn(fmt.Sprintf("%s leaves out %s, so that no client reaches it, but %s", rest.AccountsVariable, services.FirstAccount, why))
	s.out.hint(fmt.Sprintf("add %s:KEY to %s, or set AzureWebJobsStorage to the connection string of one of its accounts", services.FirstAccount, rest.AccountsVariable))
}

func (s *session) serveDoors() error {
	for i, a := range s.accounts {
		storage := s.host.Services().Account(a.Name)
		a.Queues, a.QueueAdmin, a.Blobs = storage, storage, storage
		s.accounts[i] = a
	}
	var config *tls.Config
	if s.flags.tls.wanted() {
		pair, err := s.certificate()
		if err != nil {
			return err
		}
		config = pair.Config()
	}
	server, err := rest.NewServer(s.clock, &rest.Options{
		Accounts: s.accounts, QueuePort: int(s.flags.queuePort), BlobPort: int(s.flags.blobPort), TLS: config, StrictDates: s.flags.strictDates, Guard: s.web.Guard(), Logger: s.log,
	})
	if err != nil {
		return err
	}
	if err := server.Start(); err != nil {
		var port *listen.PortError
		if errors.As(err, &port) && port.Busy() {
			return hinted(err, "stop it (func start of core tools v5 starts Azurite by itself), or choose other ports: --blob-port 0 --queue-port 0 take any free ones, off none")
		}
		return err
	}
	s.doors = server
	return nil
}

// doorURLs are where the embedded blobs and queues are served; empty for a door
// that is closed.
func (s *session) doorURLs() (blobs, queues string) {
	if s.doors == nil {
		return "", ""
	}
	return s.doors.BlobURL(), s.doors.QueueURL()
}

// usualDoors reports whether UseDevelopmentStorage=true leads an SDK to the doors.
func (s *session) usualDoors() bool {
	usual := func(address string, port int) bool {
		u, err := url.Parse(address)
		return err == nil && u.Scheme == "http" && u.Port() == strconv.Itoa(port)
	}
	blobs, queues := s.doorURLs()
	return usual(blobs, rest.DefaultBlobPort) && usual(queues, rest.DefaultQueuePort)
}

// handlerStorage is what handlers are given in the place of
// UseDevelopmentStorage=true, so that SDKs in them find the doors; empty when they
// find them anyway, or when there is nothing to find.
func (s *session) handlerStorage() string {
	if s.doors == nil || s.usualDoors() {
		return ""
	}
	for _, a := range s.accounts {
		if a.Name == services.FirstAccount {
			return s.doors.ConnectionString(a)
		}
	}
	return ""
}

// connectionStrings are what clients are given to reach an account, the shortest
// first. Keys of the user's own stay with the user.
func (s *session) connectionStrings(a rest.Account) []string {
	if !publicKey(a) {
		a.Keys = []string{"..."}
	}
	long := s.doors.ConnectionString(a)
	if publicKey(a) && s.usualDoors() {
		return []string{"UseDevelopmentStorage=true", long}
	}
	return []string{long}
}

// doorLines say where storage SDKs find the embedded accounts, with connection
// strings ready to paste.
func (s *session) doorLines() string {
	var t strings.Builder
	if s.otherStorage {
		t.WriteString("  storage    that of AzureWebJobsStorage; --blob-port and --queue-port open the embedded one to clients\n")
	}
	if s.doors != nil {
		for _, a := range s.accounts {
			blobs, queues := s.doorURLs()
			for _, door := range []struct{ name, url string }{{"blobs", blobs}, {"queues", queues}} {
				if door.url != "" {
					writef(&t, "  %-10s %s/%s\n", door.name, door.url, a.Name)
				}
			}
			for _, text := range s.connectionStrings(a) {
				writef(&t, "  storage    %s\n", text)
			}
		}
		if len(s.storageKeys()) > 0 {
			t.WriteString("  keys       of these accounts: \"redeliver keys\" shows them\n")
		}
	}
	t.WriteString(s.busLines() + s.hubLines() + s.gridLines())
	if s.pair != nil {
		writef(&t, "  tls        clients have to trust %s\n", s.pair.File)
	}
	writef(&t, "  data       %s\n", s.dataLine())
	return t.String()
}

// storage is the full connection string of each account that is served.
func (s *session) storage() []string {
	if s.doors == nil {
		return nil
	}
	var out []string
	for _, a := range s.accounts {
		list := s.connectionStrings(a)
		out = append(out, list[len(list)-1])
	}
	return out
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
	if s.doors == nil {
		return nil
	}
	for _, a := range s.accounts {
		if !publicKey(a) {
			out = append(out, storageKey{a.Name, a.Keys})
		}
	}
	return out
}
