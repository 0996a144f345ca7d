package sqlfilter_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/messaging"
	"github.com/redeliver/redeliver/bindings/servicebus"
	"github.com/redeliver/redeliver/host/emulator/servicebus/sqlfilter"
)

func newID() bindings.GUID { return bindings.GUID{15: 1} }

func message() *servicebus.Message {
	session := "s-1"
	return &servicebus.Message{
		MessageID: "m-1", Subject: "bus stop", CorrelationID: "c-1", To: "Store5", SessionID: &session,
		TimeToLive:           time.Minute,
		ScheduledEnqueueTime: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		ApplicationProperties: map[string]any{
			"color": "red", "Size": int32(10), "weight": 2.5, "small": uint8(7), "huge": uint64(1) << 63, "least": int64(math.MinInt64),
			"express": true, "tag": "100%", "HR-EmployeeID": "e", "it's": int64(1), "none": nil,
			"raw": []byte{1}, "id": bindings.GUID{15: 1}, "ratio": float32(0.5),
			"due": time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
			"odd": messaging.Encoded{0},
		},
	}
}

// TestFilter follows the grammar and the considerations of the service's page on
// SQL filters (docs: Subscription Rule SQL Filter Syntax).
func TestFilter(t *testing.T) {
	t.Parallel()
	parameters := map[string]any{"@color": "red", "limit": 5}
	for _, group := range []struct {
		name  string
		cases map[string]bool
	}{
		{"constants", map[string]bool{
			"1=1": true, "1=0": false, "TRUE": true, "false": false, "NOT FALSE": true, "1894 = 1894.0": true,
			"101.5E5 = 10150000": true, "0.5e-2 < 0.006": true, ".5 = 0.5": true, "'it''s' = 'it''s'": true, "NULL = NULL": false,
		}},
		{"properties", map[string]bool{
			"color = 'red'": true, "COLOR = 'red'": true, "color = 'RED'": false, "user.color = 'red'": true, "USER.Color = 'red'": true,
			"[HR-EmployeeID] = 'e'": true, `"it's" = 1`: true, "user.[HR-EmployeeID] = 'e'": true,
			"sys.MessageId = 'm-1'": true, "SYS.messageid = 'm-1'": true, "MessageId = 'm-1'": false, "sys.Label LIKE '%bus%'": true, "sys.Subject = 'bus stop'": true,
			"sys.SessionId = 's-1'": true, "sys.ReplyTo IS NULL": true, "sys.TimeToLive IS NOT NULL": true, "sys.ScheduledEnqueueTimeUtc = due": true,
			"sys.DeliveryCount IS NULL": true, "sys.EnqueuedTimeUtc > due": false, "sys.sequencenumber > 0 OR 1=1": true,
		}},
		{"comparison", map[string]bool{
			"Size > 9": true, "Size >= 10": true, "Size < 10": false, "Size <= 10": true, "Size <> 10": false, "Size != 11": true,
			"weight > 2": true, "small = 7": true, "huge > 9223372036854775807": true, "1 < huge": true, "huge = huge": true,
			"ratio = 0.5": true, "express = TRUE": true, "express <> true": false, "raw = raw": true, "due <= due": true,
			"'a' < 'b'": true, "id = newid()": true, "id = '00000000-0000-0000-0000-000000000001'": true, "'x' <> id": true,
		}},
		{"arithmetic", map[string]bool{
			"Size + 1 = 11": true, "Size - 11 = -1": true, "Size * 2 = 20": true, "Size / 3 = 3": true, "Size % 3 = 1": true,
			"Size / 4.0 = 2.5": true, "2 + 3 * 4 = 14": true, "(2 + 3) * 4 = 20": true, "-Size = -10": true, "- -1 = +1": true,
			"10 - 3 - 2 = 5": true, "color + 'dish' = 'reddish'": true, "5.5 % 2 = 1.5": true,
		}},
		{"integers have 64 bits", map[string]bool{
			"least = -9223372036854775808": true, "least < -9223372036854775807": true, "least = - 9223372036854775808": true,
			"least IN (-009223372036854775808)": true, "NOT (least > -9223372036854775808)": true, "least <> -9223372036854775807": true,
			"-9223372036854775808 + 1 = -9223372036854775807": true, "+-9223372036854775808 = least": true, "Size - -9223372036854775808 < 0": true,
			"9223372036854775807 > least": true, "least = -9223372036854775808.0": true,
		}},
		{"logic", map[string]bool{
			"TRUE OR FALSE AND FALSE": true, "(TRUE OR FALSE) AND FALSE": false, "NOT TRUE OR TRUE": true, "NOT (TRUE OR TRUE)": false,
			"NOT NOT TRUE": true, "express": true, "NOT express": false, "color = 'red' and size = 10": true,
		}},
		{"null", map[string]bool{
			"missing IS NULL": true, "missing IS NOT NULL": false, "none IS NULL": true, "color IS NULL": false, "color IS NOT NULL": true,
			"EXISTS(color)": true, "EXISTS (missing)": false, "exists(none)": true, "EXISTS(sys.Label)": true, "EXISTS(sys.ReplyTo)": false, "NOT EXISTS(missing)": true,
		}},
		{"in", map[string]bool{
			"color IN ('blue', 'red')": true, "color IN ('blue')": false, "color NOT IN ('blue')": true, "color NOT IN ('red')": false,
			"sys.To IN ('Store5','Store6')": true, "Size IN (9 + 1)": true,
		}},
		{"like", map[string]bool{
			"color LIKE 'r%'": true, "color LIKE 'r_d'": true, "color LIKE 'r_'": false, "color LIKE '%'": true, "color LIKE 'R%'": false,
			"color NOT LIKE 'b%'": true, "color NOT LIKE 'r%'": false, "tag LIKE '100!%' ESCAPE '!'": true, `tag LIKE '%\%' ESCAPE '\'`: true, "color LIKE '%e%d%'": true,
			"color LIKE '%%d'": true, "'' LIKE ''": true, "'' LIKE '_'": false, "'äöü' LIKE 'ä_ü'": true, "'abab' LIKE '%ab'": true,
		}},
		{"functions", map[string]bool{
			"property('color') = 'red'": true, "p('co' + 'lor') = 'red'": true, "p('sys.MessageId') = 'm-1'": true, "P('missing') IS NULL": true,
		}},
		{"parameters", map[string]bool{"color = @color": true, "size > @limit": true, "size > @LIMIT": true}},
		// Unknown operands: the result is unknown, and an unknown filter does not match.
		{"unknown", map[string]bool{
			"missing = 1": false, "missing <> 1": false, "NOT (missing = 1)": false, "missing + 1 = 1": false, "-missing = 1": false,
			"missing LIKE '%'": false, "color LIKE missing": false, "missing IN (1)": false, "missing NOT IN (1)": false, "NOT missing": false,
			"color NOT IN ('blue', NULL)": false, "color IN ('red', NULL)": true,
			// AND
			"missing = 1 AND TRUE": false, "NOT (missing = 1 AND FALSE)": true, "NOT (FALSE AND missing = 1)": true, "NOT (missing = 1 AND TRUE)": false,
			// OR
			"missing = 1 OR TRUE": true, "TRUE OR missing = 1": true, "missing = 1 OR FALSE": false, "NOT (missing = 1 OR FALSE)": false,
		}},
	} {
		t.Run(group.name, func(t *testing.T) {
			t.Parallel()
			for text, want := range group.cases {
				f, err := sqlfilter.ParseFilter(servicebus.SQL{Expression: text, Parameters: parameters}, newID)
				if err != nil {
					t.Errorf("ParseFilter(%q): %v", text, err)
					continue
				}
				got, err := f.Match(message())
				if err != nil || got != want {
					t.Errorf("%s: got %v, %v; want %v", text, got, err, want)
				}
			}
		})
	}
}

// TestFilterFailsOnMessage has what throws a FilterException in the service.
func TestFilterFailsOnMessage(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"sys.Nothing = 1":              `no system property "Nothing"`,
		"EXISTS(sys.Nothing)":          `no system property`,
		"p('sys.Nothing') = 1":         `no system property`,
		"color = 1":                    `operator "=" cannot be applied to operands of type String and Int64`,
		"color IN (1)":                 `operator "IN"`,
		"express > FALSE":              `operator ">"`,
		"size / 0 = 1":                 "divide by zero",
		"size % 0 = 1":                 "divide by zero",
		"color - 'd' = 're'":           `operator "-"`,
		"-color = 1":                   `operator "-"`,
		"+color = 1":                   `operator "+"`,
		"size LIKE '1%'":               "LIKE wants strings",
		"color LIKE 'r' ESCAPE 'ab'":   "ESCAPE wants one character",
		"color LIKE 'r!' ESCAPE '!'":   "ends with its escape character",
		"color":                        "a condition is a Boolean",
		"NOT color":                    "a condition is a Boolean",
		"TRUE AND size":                "a condition is a Boolean",
		"property(1) = 1":              "wants a String",
		"odd = odd":                    "cannot be applied",
		"FALSE OR sys.Nothing IS NULL": "no system property",
	} {
		f, err := sqlfilter.ParseFilter(servicebus.SQL{Expression: text}, newID)
		if err != nil {
			t.Errorf("ParseFilter(%q): %v", text, err)
			continue
		}
		match, err := f.Match(message())
		var failure *sqlfilter.FilterError
		if match || !errors.As(err, &failure) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, %v; want a FilterError with %q", text, match, err, want)
		} else if failure.Name() != "FilterException" {
			t.Errorf("%s: got name %q", text, failure.Name())
		}
	}
	// The second operand of logic that the first decides is not looked at.
	for _, text := range []string{"TRUE OR sys.Nothing = 1", "NOT (FALSE AND sys.Nothing = 1)"} {
		f, err := sqlfilter.ParseFilter(servicebus.SQL{Expression: text}, newID)
		if err != nil {
			t.Fatal(err)
		}
		if match, err := f.Match(message()); !match || err != nil {
			t.Errorf("%s: got %v, %v", text, match, err)
		}
	}
}

func TestFilterSyntax(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                           "found the end",
		"color =":                    "found the end",
		"color = 'red":               "without its closing",
		"[color = 'red'":             "without its closing",
		"[] = 1":                     "empty delimited identifier",
		"color == 'red'":             "found \"=\"",
		"color 'red'":                "AND, OR or the end expected",
		"color NOT 'red'":            "IN or LIKE expected",
		"color IS 1":                 `"null" expected`,
		"color IN 1":                 `"(" expected`,
		"color IN ()":                "a value or a property expected",
		"color IN ('a'":              `")" expected`,
		"(color = 1":                 `")" expected`,
		"foo.bar = 1":                "is no scope",
		"exists = 1":                 `"(" expected`,
		"EXISTS('a')":                "a value or a property expected",
		"max(1) = 1":                 "there is no function",
		"color = @missing":           "has no value",
		"color = @":                  "a parameter has a name",
		"color = #":                  "unexpected character",
		"size = 1a":                  "a letter follows",
		"size = 9223372036854775808": "out of range",
		"size = 1e999":               "out of range",
		// The digits of the smallest integer stand behind a minus of their own only.
		"size = -9223372036854775809":    "out of range",
		"size = +9223372036854775808":    "out of range",
		"size = 0 - 9223372036854775808": "out of range",
		"size = -(9223372036854775808)":  "out of range",
		"and = 1":                        "a value or a property expected",
		"1=1; 1=1":                       "AND, OR or the end expected",
		strings.Repeat("(", 200) + "1=1" + strings.Repeat(")", 200): "nests deeper",
		strings.Repeat("NOT ", 200) + "TRUE":                        "nests deeper",
		strings.Repeat("-", 200) + "1=1":                            "nests deeper",
		strings.Repeat("a", sqlfilter.MaxExpression+1):              "the limit is 1024",
	} {
		_, err := sqlfilter.ParseFilter(servicebus.SQL{Expression: text}, newID)
		var syntax *sqlfilter.SyntaxError
		if !errors.As(err, &syntax) || !strings.Contains(err.Error(), want) {
			t.Errorf("ParseFilter(%q): got %v, want a SyntaxError with %q", text, err, want)
		}
	}
	full := "color = '" + strings.Repeat("ä", sqlfilter.MaxExpression-len("color = ''")) + "'"
	if _, err := sqlfilter.ParseFilter(servicebus.SQL{Expression: full}, newID); err != nil {
		t.Errorf("an expression of %d characters: %v", sqlfilter.MaxExpression, err)
	}
}

// FuzzFilter looks for texts that crash the parser or a filter.
func FuzzFilter(f *testing.F) {
	for _, text := range []string{
		"1=1", "sys.Label LIKE '%bus%' OR user.tag IN ('a', 'b') AND NOT EXISTS([x y])", "p('a'+'b') IS NOT NULL", "-1.5e3 % 2 <= \"q\"", "a LIKE 'b!%' ESCAPE '!'", "a = @p",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		parsed, err := sqlfilter.ParseFilter(servicebus.SQL{Expression: text, Parameters: map[string]any{"p": 1}}, newID)
		if err != nil {
			return
		}
		match, err := parsed.Match(message())
		if match && err != nil {
			t.Errorf("%q matches and fails: %v", text, err)
		}
	})
}
