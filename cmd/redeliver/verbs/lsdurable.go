package verbs

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/pflag"

	"github.com/redeliver/redeliver/cmd/redeliver/remote"
	"github.com/redeliver/redeliver/host/ops/durable"
)

// ofDurable are the flags of ls that choose among orchestrations and entities.
type ofDurable struct{ status, name, hub string }

func (o *ofDurable) flags(f *pflag.FlagSet) {
	f.StringVar(&o.status, "status", "", "of orchestrations only those with this status: Running, Failed, ...")
	f.StringVar(&o.name, "name", "", "of orchestrations and entities only those of this function")
	f.StringVar(&o.hub, "hub", "", "orchestrations and entities of another task hub than the app's")
}

// lists are what the flags ask for, in the form of an inventory; nil: no flag is given.
func (o *ofDurable) lists(ctx context.Context, c *remote.Client, what []string) (map[string]any, error) {
	switch {
	case *o == ofDurable{}:
		return nil, nil
	case slices.Equal(what, []string{"orchestrations"}):
		var list durable.OrchestrationList
		err := c.Read(ctx, durable.ListOrchestrations{Status: o.status, Name: o.name, Hub: o.hub}, &list)
		return map[string]any{"orchestrations": list.Orchestrations}, err
	case slices.Equal(what, []string{"entities"}) && o.status == "":
		var list durable.DurableEntityList
		err := c.Read(ctx, durable.ListDurableEntities{Name: o.name, Hub: o.hub}, &list)
		return map[string]any{"entities": list.Entities}, err
	case o.status != "":
		return nil, errors.New(`--status is of orchestrations: want "ls orchestrations --status ` + o.status + `"`)
	}
	return nil, fmt.Errorf(`--name and --hub are of orchestrations or entities: want "ls orchestrations" or "ls entities" with them`)
}
