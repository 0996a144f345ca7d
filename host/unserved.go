package host

// nameUnserved makes the entities and hubs of the embedded namespace that functions name
// which this host does not run: whatever runs them finds what it would find beside a
// function of ours. A name that cannot be made is that program's to meet.
func (g *generation) nameUnserved() {
	for _, def := range g.app.Functions {
		if def.NotServed == "" || def.InError() {
			continue
		}
		f := &function{gen: g, def: def}
		for _, err := range []error{f.nameEntities(g.host.embedded.ServiceBus()), f.nameHubs(g.host.embedded.EventHubs())} {
			if err != nil {
				g.host.log.Warn().Err(err).Str("function", def.Name).Msg("cannot make what the function names")
			}
		}
	}
}
