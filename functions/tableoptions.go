package functions

// TableOption is an option of [TableInput] and [TableOutput]; every [OutputOption] is one.
type TableOption interface{ applyOutput(binding map[string]any) }

type tableOption func(binding map[string]any)

func (o tableOption) applyOutput(b map[string]any) { o(b) }

// PartitionKey names the partition of a table binding, also with binding expressions.
func PartitionKey(key string) TableOption { return tableProperty("partitionKey", key) }

// RowKey names the row of a table output, also with binding expressions. Of an input it
// counts by the switch tableRowKey only, see [TableInput].
func RowKey(key string) TableOption { return tableProperty("rowKey", key) }

// Filter is the OData filter of a table input, such as "Age gt 30". Expressions in quotes
// are texts; others must be numbers or Booleans.
func Filter(filter string) TableOption { return tableProperty("filter", filter) }

// Take is the most entities that a table input reads, 1 to 1,000.
func Take(entities int) TableOption { return tableProperty("take", entities) }

func tableProperty(name string, value any) TableOption {
	return tableOption(func(b map[string]any) { b[name] = value })
}

// TableInput declares entities of a table as an input of the function, read at the start of
// each attempt: get it with [GetInput] under name, as the JSON of an array, ordered by keys.
// Each entity has PartitionKey, RowKey and its properties. A row key does not count, as on
// the platform, unless the switch tableRowKey of host.json is "honoured": then the input with
// both keys is one object, or null. A table that does not exist fails the attempt.
func TableInput(name, table string, opts ...TableOption) Option {
	return tableBinding("in", name, table, opts)
}

// TableOutput declares an output to a table. The handler fills it with [SetOutput] under
// name, or with [SetReturn] for "$return": an object is one entity, an array several. Keys
// in the object win over those of the options, and one of both is needed. An entity is
// inserted, and one that is there fails the attempt; with "ETag": "*" it is replaced. The
// table is made when it does not exist.
func TableOutput(name, table string, opts ...TableOption) Option {
	return tableBinding("out", name, table, opts)
}

func tableBinding(direction, name, table string, opts []TableOption) Option {
	b := map[string]any{"type": "table", "direction": direction, "name": name, "tableName": table}
	for _, o := range opts {
		o.applyOutput(b)
	}
	raw := object(b)
	return anyOption(func(f *function) { f.bindings = append(f.bindings, raw) })
}
