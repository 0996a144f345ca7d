package schemas

// NearMisses returns a warning for every key of the document that is probably a
// misspelling of a known one.
func (d *Document) NearMisses(known []string) []*Fault { return nil }
