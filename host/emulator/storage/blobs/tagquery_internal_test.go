package blobs

import "testing"

// Words end where names would go on.
func TestTagQueryWords(t *testing.T) {
	tags := map[string]string{"a": "1", "roid": "2", "ange": "2", "and": "3"}
	for text, want := range map[string]string{
		`a='1' android='2'`:        "refused",
		`a='0' orange='2'`:         "refused",
		`a='1' and_='2'`:           "refused",
		`a='1'and roid='2'`:        "holds",
		`a='1'AND(roid='2')`:       "holds",
		`a='0'or"ange"='2'`:        "holds",
		`a='1' and and='3'`:        "holds",
		`a='1' and or='3'`:         "fails",
		`(a='0' or a='1')and a>''`: "holds",
	} {
		got := "refused"
		if query, err := parseTagQuery(text, false); err == nil {
			got = "fails"
			if query.holds(tags, "") {
				got = "holds"
			}
		}
		if got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

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
