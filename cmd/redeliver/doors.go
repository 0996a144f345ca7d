package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/redeliver/redeliver/host/emulator"
	"github.com/redeliver/redeliver/host/emulator/rest"
)

// noDoor is the port of a door that is not asked for.
const noDoor = -1

// addDoors adds the flags of the storage doors.
func addDoors(cmd *cobra.Command, f *startFlags) {
	flags := cmd.Flags()
	flags.IntVar(&f.queuePort, "queue-port", noDoor, "serve the embedded queues to storage SDKs on this port, usually 10001; 0 for any free one, -1 for not at all")
	flags.IntVar(&f.blobPort, "blob-port", noDoor, "serve the embedded blobs to storage SDKs on this port, usually 10000; 0 for any free one, -1 for not at all")
}

// checkDoors refuses ports that are none.
func (f *startFlags) checkDoors() error {
	for name, port := range map[string]int{"queue-port": f.queuePort, "blob-port": f.blobPort} {
		if port < noDoor || port > 65535 {
			return &usageError{fmt.Errorf("--%s %d: want a number from 0 to 65535, or -1", name, port)}
		}
	}
	return nil
}

// openDoors serves the embedded storage account over HTTP, where asked to. The
// doors listen on loopback only.
func (s *session) openDoors() error {
	if s.flags.queuePort == noDoor && s.flags.blobPort == noDoor {
		return nil
	}
	storage := s.host.Storage()
	server, err := rest.NewServer(s.clock, &rest.Options{
		Accounts: []rest.Account{{
			Name: rest.DevAccount, Keys: []string{rest.DevKey},
			Queues: storage, QueueAdmin: emulator.NewQueueAdmin(storage), Blobs: storage,
		}},
		QueuePort: s.flags.queuePort, BlobPort: s.flags.blobPort, Logger: s.log,
	})
	if err != nil {
		return err
	}
	if err := server.Start(); err != nil {
		var port *rest.PortError
		if errors.As(err, &port) && port.Busy() {
			return hinted(err, "choose another one with --"+port.Service+"-port, or 0 for any free one")
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

// doorLines say where storage SDKs find the embedded account, with a connection
// string ready to paste.
func (s *session) doorLines() string {
	if s.doors == nil {
		return ""
	}
	var t strings.Builder
	connection := fmt.Sprintf("DefaultEndpointsProtocol=http;AccountName=%s;AccountKey=%s;", rest.DevAccount, rest.DevKey)
	for _, door := range []struct{ name, key, url string }{
		{"blobs", "BlobEndpoint", s.doors.BlobURL()},
		{"queues", "QueueEndpoint", s.doors.QueueURL()},
	} {
		if door.url != "" {
			url := door.url + "/" + rest.DevAccount
			fmt.Fprintf(&t, "  %-10s %s\n", door.name, url)
			connection += door.key + "=" + url + ";"
		}
	}
	fmt.Fprintf(&t, "  storage    %s\n", connection)
	return t.String()
}
