package sqlfilter

import "unicode/utf8"

// A pattern of LIKE: runes, with % for any string and _ for any character.
type pattern []patternRune

type patternRune struct {
	r    rune
	wild bool
}

// compilePattern reads a pattern; with an escape character, the one after it
// means itself.
func compilePattern(text, escape string, escaped bool) (pattern, error) {
	var mark rune = -1
	if escaped {
		if utf8.RuneCountInString(escape) != 1 {
			return nil, failf("ESCAPE wants one character, not %q", escape)
		}
		mark, _ = utf8.DecodeRuneInString(escape)
	}
	var p pattern
	plain := false
	for _, r := range text {
		switch {
		case plain:
			p = append(p, patternRune{r: r})
			plain = false
		case r == mark:
			plain = true
		case r == '%' && len(p) > 0 && p[len(p)-1] == (patternRune{'%', true}):
			// one is as good as several
		default:
			p = append(p, patternRune{r: r, wild: r == '%' || r == '_'})
		}
	}
	if plain {
		return nil, failf("the pattern %q ends with its escape character", text)
	}
	return p, nil
}

// match goes back only to the last %, so its cost is at most the product of both
// lengths.
func (p pattern) match(text string) bool {
	runes := []rune(text)
	at, i := 0, 0
	backAt, backI := -1, 0
	for i < len(runes) {
		switch {
		case at < len(p) && p[at].wild && p[at].r == '%':
			backAt, backI = at, i
			at++
		case at < len(p) && (p[at].wild || p[at].r == runes[i]):
			at++
			i++
		case backAt >= 0:
			backI++
			at, i = backAt+1, backI
		default:
			return false
		}
	}
	for at < len(p) && p[at].wild && p[at].r == '%' {
		at++
	}
	return at == len(p)
}
