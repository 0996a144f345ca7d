package host_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redeliver/redeliver/host/kinds/served"

	"github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/host/app"
)

// loadCosmos loads an app with one cosmosDBTrigger that watches shop/orders and has
// these properties too.
func loadCosmos(t *testing.T, properties string) *app.Function {
	t.Helper()
	dir := t.TempDir()
	binding := `{"type":"cosmosDBTrigger","direction":"in","name":"d"`
	for name, standard := range map[string]string{"databaseName": `"shop"`, "containerName": `"orders"`} {
		if !hasProperty(properties, name) {
			binding += `,"` + name + `":` + standard
		}
	}
	if properties != "" {
		binding += "," + properties
	}
	for name, text := range map[string]string{
		"host.json":             `{"version":"2.0"}`,
		"Changed/function.json": `{"scriptFile":"run.sh","bindings":[` + binding + `}]}`,
		"Changed/run.sh":        "",
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	a, err := app.Load(dir, &app.Options{InProcess: true, Kinds: served.Facts(), Env: map[string]string{
		"AzureWebJobsStorage": "UseDevelopmentStorage=true",
		"CosmosDB":            "AccountEndpoint=https://localhost:8081/;AccountKey=a2V5",
		"Leases":              "AccountEndpoint=http://127.0.0.1:8081/",
		"Cloud":               "AccountEndpoint=https://contoso.documents.azure.com:443/;AccountKey=a2V5",
		"WHEN":                "2030-01-02T03:04:05Z", "SOON": "soon", "MINUS": "-5", "MANY": "7", "YES": "true", "MAYBE": "maybe", "NAME": "orders",
	}})
	if err != nil {
		t.Fatal(err)
	}
	f := a.Function("Changed")
	if f == nil {
		t.Fatal("no function")
	}
	return f
}

func hasProperty(properties, name string) bool {
	return len(properties) > len(name) && properties[:len(name)+2] == `"`+name+`"`
}

// The values of function.json, and the defaults (spec messaging 7).
func TestCosmosTriggerOptions(t *testing.T) {
	t.Parallel()
	standard := app.CosmosTrigger{
		Connection: "CosmosDB", Database: "shop", Container: "orders",
		LeaseConnection: "CosmosDB", LeaseDatabase: "shop", LeaseContainer: "leases",
	}
	with := func(change func(*app.CosmosTrigger)) app.CosmosTrigger {
		t := standard
		change(&t)
		return t
	}
	for name, test := range map[string]struct {
		properties string
		want       app.CosmosTrigger
	}{
		"defaults": {"", standard},
		"zeros": {`"feedPollDelay":0,"leaseAcquireInterval":0,"leaseExpirationInterval":0,"leaseRenewInterval":0,"maxItemsPerInvocation":0`,
			standard},
		"empty texts": {`"leaseContainerName":"","leaseDatabaseName":"","leaseConnection":"","leaseContainerPrefix":""`, standard},
		"leases": {`"leaseConnection":"Leases","leaseDatabaseName":"admin","leaseContainerName":"orders","leaseContainerPrefix":"a-","createLeaseContainerIfNotExists":true,"leasesContainerThroughput":400`,
			with(func(t *app.CosmosTrigger) {
				t.LeaseConnection, t.LeaseDatabase, t.LeaseContainer, t.LeasePrefix, t.CreateLeaseContainer = "Leases", "admin", "orders", "a-", true
			})},
		"times in milliseconds": {`"feedPollDelay":1,"leaseAcquireInterval":1999.5,"leaseExpirationInterval":3e3,"leaseRenewInterval":"4000","maxItemsPerInvocation":"%MANY%"`,
			with(func(t *app.CosmosTrigger) {
				t.FeedPollDelay, t.AcquireInterval, t.Expiration, t.RenewInterval, t.MaxItems = time.Millisecond, 2*time.Second, 3*time.Second, 4*time.Second, 7
			})},
		"from the beginning": {`"startFromBeginning":"%YES%"`, with(func(t *app.CosmosTrigger) { t.StartFromBeginning = true })},
		"from a time":        {`"startFromTime":"%WHEN%"`, with(func(t *app.CosmosTrigger) { t.StartTime = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC) })},
		"from a time, zone":  {`"startFromTime":"2030-01-02 05:04+02:00"`, with(func(t *app.CosmosTrigger) { t.StartTime = time.Date(2030, 1, 2, 3, 4, 0, 0, time.UTC) })},
		"from a day, not from the beginning": {`"startFromTime":"2030-01-02","startFromBeginning":false`,
			with(func(t *app.CosmosTrigger) { t.StartTime = time.Date(2030, 1, 2, 0, 0, 0, 0, time.UTC) })},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := loadCosmos(t, test.properties)
			for _, fault := range f.Faults {
				t.Errorf("fault %v", fault)
			}
			if diff := cmp.Diff(test.want, f.Trigger.CosmosTrigger()); diff != "" {
				t.Errorf("trigger (-want +got):\n%s", diff)
			}
		})
	}
}

// Bad values are faults of the function, with the path and what would do, also when
// they come out of settings.
func TestCosmosTriggerFaults(t *testing.T) {
	t.Parallel()
	for properties, want := range map[string]string{
		`"databaseName":""`:                                                `bindings[0].databaseName: is empty; allowed: the name of a database`,
		`"containerName":""`:                                               `bindings[0].containerName: is empty; allowed: the name of a container`,
		`"feedPollDelay":-1`:                                               `bindings[0].feedPollDelay: found -1: out of range; allowed: a whole number of 0 or more`,
		`"feedPollDelay":"soon"`:                                           `bindings[0].feedPollDelay: found "soon": cannot be read as a whole number; allowed: a whole number of 0 or more`,
		`"leaseAcquireInterval":"1.5"`:                                     `bindings[0].leaseAcquireInterval: found "1.5": cannot be read as a whole number; allowed: a whole number of 0 or more`,
		`"leaseRenewInterval":-17000`:                                      `bindings[0].leaseRenewInterval: found -17000: out of range; allowed: a whole number of 0 or more`,
		`"maxItemsPerInvocation":-1`:                                       `bindings[0].maxItemsPerInvocation: found -1: out of range; allowed: a whole number of 0 or more`,
		`"leaseRenewInterval":"%SOON%"`:                                    `bindings[0].leaseRenewInterval: found "soon": cannot be read as a whole number of 32 bits; allowed: a whole number of 0 or more`,
		`"feedPollDelay":"%MINUS%"`:                                        `bindings[0].feedPollDelay: found "-5": out of range; allowed: a whole number of 0 or more`,
		`"startFromBeginning":"%MAYBE%"`:                                   `bindings[0].startFromBeginning: found "maybe": cannot be read as true or false; allowed: true or false`,
		`"startFromTime":"soon"`:                                           `bindings[0].startFromTime: found "soon": cannot be read as a time; allowed: a time such as 2021-02-16T14:19:29Z`,
		`"startFromTime":"%SOON%"`:                                         `bindings[0].startFromTime: found "soon": cannot be read as a time; allowed: a time such as 2021-02-16T14:19:29Z`,
		`"startFromTime":"%WHEN%","startFromBeginning":"%YES%"`:            `bindings[0].startFromTime: found "2030-01-02T03:04:05Z": startFromBeginning is set too; allowed: startFromTime or startFromBeginning`,
		`"startFromTime":"2021-02-16T14:19:29Z","startFromBeginning":true`: `bindings[0].startFromTime: found "2021-02-16T14:19:29Z": startFromBeginning is set too; allowed: startFromTime or startFromBeginning`,
		`"leaseContainerName":"%NAME%"`:                                    `bindings[0].leaseContainerName: found "orders": the monitored container cannot be the same as the container storing the leases; allowed: two different containers`,
		`"leaseDatabaseName":"SHOP","leaseContainerName":"Orders"`:         `bindings[0].leaseContainerName: found "orders": the monitored container cannot be the same as the container storing the leases; allowed: two different containers`,
		`"containerName":"leases"`:                                         `bindings[0].containerName: found "leases": the monitored container cannot be the same as the container storing the leases; allowed: two different containers`,
		`"leaseConnection":"Missing"`:                                      `bindings[0].leaseConnection: found "Missing": no setting holds the connection "Missing"; allowed: the name of a setting for the embedded account`,
		`"leaseConnection":"Cloud"`:                                        `bindings[0].leaseConnection: found "Cloud": connection "Cloud" names the Cosmos DB account "https://contoso.documents.azure.com:443/": only the embedded change feed is served, as AccountEndpoint=https://localhost:8081/; allowed: the name of a setting for the embedded account`,
		`"connection":"Storage"`:                                           `bindings[0].connection: found "Storage": connection "AzureWebJobsStorage" names no AccountEndpoint; allowed: the name of a setting for the embedded account`,
	} {
		t.Run(properties, func(t *testing.T) {
			t.Parallel()
			f := loadCosmos(t, properties)
			if len(f.Faults) != 1 {
				t.Fatalf("faults %v, want one: %s", f.Faults, want)
			}
			fault := *f.Faults[0]
			fault.File, fault.Line, fault.Column, fault.Hint = "", 0, 0, ""
			if got := strings.TrimPrefix(fault.Error(), ": "); got != want {
				t.Errorf("fault\n%s, want\n%s", got, want)
			}
		})
	}
}
