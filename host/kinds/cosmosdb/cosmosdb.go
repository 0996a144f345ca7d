// Package cosmosdb is the trigger, the input and the output of Cosmos DB as the host knows them.
package cosmosdb

import (
	"encoding/json"
	"errors"
	"strings"

	trigger "github.com/redeliver/redeliver/triggers/cosmosdb"

	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/host/kinds"
	"github.com/redeliver/redeliver/host/services"
	"github.com/redeliver/redeliver/schemas"
	"github.com/redeliver/redeliver/triggers"
)

// Kind is the Cosmos DB trigger.
func Kind() kinds.Kind {
	return kinds.Kind{
		Kind: app.Kind{
			Type: "cosmosDBTrigger", NeedsStorage: true, OfficialRetry: true, Connection: "CosmosDB",
			Endless: "a batch that always fails blocks its partition", Feeds: feeds,
			End: end, Validate: validate,
		},
		Serial: true, Connect: connect, Listen: listen, Unsettled: triggers.NotCheckpointed, Message: message, Remedy: remedy,
	}
}

// placesOf are the containers of a trigger: of the documents, and of the leases.
func placesOf(f *kinds.Function) (monitored, leases trigger.Place, err error) {
	t := f.Def.Trigger.CosmosTrigger()
	monitored = trigger.Place{Database: t.Database, Container: t.Container}
	leases = trigger.Place{Database: t.LeaseDatabase, Container: t.LeaseContainer}
	if monitored.Account, err = f.Connections.Cosmos(f.App().Settings, t.Connection); err != nil {
		return monitored, leases, err
	}
	leases.Account, err = f.Connections.Cosmos(f.App().Settings, t.LeaseConnection)
	return monitored, leases, err
}

func connect(f *kinds.Function) error {
	_, _, err := placesOf(f)
	return err
}

func listen(turn *kinds.Turn) (triggers.Listener, error) {
	f := turn.Function
	monitored, leases, err := placesOf(f)
	if err != nil {
		return nil, err
	}
	monitored.Account, leases.Account = turn.CosmosIn(monitored.Account), turn.CosmosIn(leases.Account)
	t := f.Def.Trigger.CosmosTrigger()
	return trigger.New(f.Clock, monitored, leases, &trigger.Options{
		// Another function of this host is another owner, else two that have one
		// prefix would take each other's leases for their own. The listener of the next
		// generation is the same owner: it runs when this one has ended.
		Owner:                ownerOf(f.Env, f.Def.Name),
		LeasePrefix:          t.LeasePrefix,
		CreateLeaseContainer: t.CreateLeaseContainer,
		FeedPollDelay:        t.FeedPollDelay,
		AcquireInterval:      t.AcquireInterval,
		Expiration:           t.Expiration,
		RenewInterval:        t.RenewInterval,
		MaxItems:             t.MaxItems,
		StartFromBeginning:   t.StartFromBeginning,
		StartTime:            t.StartTime,
		WakeUp:               f.App().Switches.WakeUp == "fast",
		Written: func(lease, continuation string) {
			f.Journal.Append(journal.Record{
				Kind: journal.CheckpointWritten, Generation: f.ID(), Function: f.Def.Name, Trigger: f.Def.Kind.Type, Source: monitored.String(),
				Fields: []journal.Field{{Key: "lease", Value: lease}, {Key: "continuation", Value: continuation}},
			})
		},
		Notify: func(lease string, err error) {
			f.Journal.Append(journal.Record{
				Kind: journal.FunctionError, Generation: f.ID(), Function: f.Def.Name, Trigger: f.Def.Kind.Type,
				Source: lease, Message: "a range cannot be read and will be tried again", Error: err.Error(),
			})
		},
	}), nil
}

// ownerOf is the name of a function's listener in leases.
func ownerOf(env *kinds.Env, function string) string { return env.Instance + "/" + function }

// validate checks what the schema cannot. Connections that exist but mean
// another account are faults too, of the property that names them.
func validate(a *app.App, f *app.Function) []*schemas.Fault {
	faults := f.Trigger.CosmosFaults()
	t := f.Trigger.CosmosTrigger()
	check := func(property, setting string) {
		if err := services.CheckCosmos(a.Settings, setting); err != nil {
			faults = append(faults, &schemas.Fault{
				Path: f.Trigger.PathOf(property), Found: setting, Reason: err.Error(), Kind: schemas.KindInvalidOperation,
				Allowed: "the name of a setting for the embedded account",
			})
		}
	}
	check("connection", t.Connection)
	if t.LeaseConnection != t.Connection {
		check("leaseConnection", t.LeaseConnection)
	}
	return faults
}

// feeds reports whether an output writes to the container that a trigger watches.
func feeds(trigger, out *app.Binding) (key, target string) {
	if database, _ := kinds.Fed("cosmosDB", kinds.Named{Key: "databaseName"})(trigger, out); database == "" {
		return "", ""
	}
	return kinds.Fed("cosmosDB", kinds.Named{Key: "containerName", Noun: "container"})(trigger, out)
}

func message(_ *kinds.Function, input string) (triggers.Message, error) {
	if !json.Valid([]byte(input)) {
		return triggers.Message{}, errors.New("a Cosmos DB function is called with a JSON array of documents")
	}
	return trigger.Message([]byte(input)), nil
}

// remedy is for a container that is missing.
func remedy(failure string) string {
	if strings.HasPrefix(failure, "invalid operation: ") {
		return `"redeliver create cosmos DATABASE/CONTAINER" makes one`
	}
	return ""
}

func end(*app.App, *app.Function) string { return "lost: the range moves on" }
