package verbs

import (
	"strings"

	"github.com/redeliver/redeliver/cmd/redeliver/cli"
	"github.com/redeliver/redeliver/host/ops"
	"github.com/redeliver/redeliver/host/ops/tables"
)

// SendTable writes entities to a table.
var SendTable = Verb[tables.WriteEntities, tables.EntitiesWritten]{ // read only
	Use: "table NAME [JSON|FILE|-]", Short: "Write entities to a table",
	Long: `Send writes entities to a table of the running host, and makes the table when
it does not exist. FILE holds one JSON object, or an array of such objects. The
JSON itself may stand in the place of FILE; "-" and no FILE mean the standard
input. An entity has a PartitionKey and a RowKey; types that JSON does not have
are said beside a property: "n@odata.type": "Edm.Int64".

Several entities of one partition, up to 100, are one transaction. Others are
written one after the other, until one fails.`,
	Example: `  redeliver send table orders entities.json
  redeliver send table orders '{"PartitionKey": "a", "RowKey": "1", "paid": true}'
  redeliver send table orders '{"paid": true}' --partition-key a --row-key 1 --mode merge`,
	Names: NamesOf(tables.Service), Body: document,
	Text: func(_ *tables.WriteEntities, out *tables.EntitiesWritten) string {
		where := "to"
		if out.Created {
			where = "to the new"
		}
		return cli.Textf("wrote %s %s table %q\n", cli.Plural(out.Written, "entity"), where, out.Table)
	},
}

// CreateTable makes a table.
var CreateTable = Verb[tables.CreateTable, tables.TableInfo]{ // read only
	Use: "table NAME", Short: "Make a table",
	Long: `Create makes a table in the embedded storage account of the running host. Of its
name the case of letters does not matter.`,
	Example: `  redeliver create table orders`,
	Text: func(_ *tables.CreateTable, made *tables.TableInfo) string {
		return cli.Textf("created table %q\n", made.Name)
	},
}

// DeleteTable removes a table.
var DeleteTable = Verb[tables.DeleteTable, ops.None]{ // read only
	Use: "table NAME", Short: "Remove a table with its entities",
	Long: `Delete removes a table with its entities from the embedded storage account of
the running host. Its name is free at once.`,
	Example: `  redeliver delete table orders`,
	Names:   NamesOf(tables.Service),
	Text:    func(in *tables.DeleteTable, _ *ops.None) string { return cli.Textf("deleted table %q\n", in.Table) },
}

// PeekTable shows entities of a table.
var PeekTable = Verb[tables.ReadEntities, tables.Entities]{ // read only
	Use: "table NAME", Short: "Show entities of a table",
	Long: `Peek shows entities of a table of the running host by their keys, each on a line
with the types that JSON does not have. "send" takes such a line.`,
	Example: `  redeliver peek table orders
  redeliver peek table orders --partition-key a --filter "paid eq true"
  redeliver peek table orders --select RowKey,paid --etag`,
	Names: NamesOf(tables.Service), Text: tableEntities,
}

func tableEntities(_ *tables.ReadEntities, found *tables.Entities) string {
	var b strings.Builder
	cli.Writef(&b, "table %q: %s", found.Table, cli.Plural(found.Count, "entity"))
	if hidden := found.Count - len(found.Entities); hidden > 0 {
		cli.Writef(&b, ", %d not shown (beyond --max)", hidden)
	}
	b.WriteByte('\n')
	for _, e := range found.Entities {
		cli.Writef(&b, "%s\n", e)
	}
	return b.String()
}

// PurgeTable removes entities of a table.
var PurgeTable = Verb[tables.PurgeEntities, ops.Purged]{ // read only
	Use: "table NAME", Short: "Remove the entities of a table",
	Long: `Purge removes the entities of a table of the running host, or only those that
the flags choose. The table stays.`,
	Example: `  redeliver purge table orders
  redeliver purge table orders --partition-key a
  redeliver purge table orders --filter "paid eq true"`,
	Names: NamesOf(tables.Service),
	Text: func(_ *tables.PurgeEntities, out *ops.Purged) string {
		return cli.Textf("removed %s from table %q\n", cli.Plural(out.Removed, "entity"), out.Path)
	},
}
