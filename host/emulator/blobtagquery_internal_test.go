package emulator

import "testing"

// FuzzTagQuery: whatever an expression is, it is read or refused, and what holds for
// no tags at all is nothing.
func FuzzTagQuery(f *testing.F) {
	for _, seed := range []string{
		"a = 'b'", `"a b" >= 'c' AND (x <> 'y' or z < '')`, "@container = 'docs' and n > '1' and n <= '5'", "((a='b'))", "a='b' or", `"`, "'", "a='it''s'",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, find := range []bool{false, true} {
			query, err := parseTagQuery(text, find)
			if err != nil {
				if err.Error() == "" {
					t.Errorf("%q: an error without words", text)
				}
				continue
			}
			if holds := query.holds(nil, ""); holds && !find {
				t.Errorf("%q holds without tags", text)
			}
			if len(query.keys) > maxTags {
				t.Errorf("%q compares %d keys", text, len(query.keys))
			}
		}
	})
}
