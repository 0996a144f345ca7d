package explain

import (
	"math"
	"strconv"

	"github.com/redeliver/redeliver/host/journal"
)

// AppendJSON appends what json.Marshal makes of the changes, for a third of the time: a page
// that is open costs a host little.
func (c *Changes) AppendJSON(b []byte) []byte {
	b = appendTime(append(b, '{'), `"now":`, c.Now)
	b = appendList(b, "lives", c.Lives, (*Course).appendJSON)
	b = appendList(b, "dropped", c.Dropped, func(key string, b []byte) []byte { return journal.AppendQuoted(b, key) })
	b = appendList(b, "host", c.Host, Mark.appendJSON)
	return append(b, '}')
}

func (c *Course) appendJSON(b []byte) []byte {
	b = journal.AppendQuoted(append(b, `{"key":`...), c.Key)
	for _, t := range [...]struct{ name, text string }{
		{`,"message":`, c.Message}, {`,"function":`, c.Function}, {`,"trigger":`, c.Trigger}, {`,"source":`, c.Source}, {`,"service":`, c.Service},
		{`,"place":`, c.Place}, {`,"error":`, c.Error}, {`,"outcome":`, string(c.Outcome)}, {`,"state":`, c.State},
	} {
		b = journal.AppendQuoted(append(b, t.name...), t.text)
	}
	b = appendInt(b, `,"number":`, c.Number)
	b = appendInt(b, `,"of":`, int64(c.Of))
	b = strconv.AppendBool(append(b, `,"gone":`...), c.Gone)
	b = appendInt(b, `,"seq":`, int64(c.Seq))
	b = appendInt(b, `,"latest":`, int64(c.Latest))
	b = appendTime(b, `,"start":`, c.Start)
	b = appendTime(b, `,"end":`, c.End)
	b = appendInt(b, `,"attempts":`, int64(c.Attempts))
	b = appendInt(b, `,"failures":`, int64(c.Failures))
	b = appendInt(b, `,"own":{"deliveries":`, int64(c.Own.Deliveries))
	b = appendInt(b, `,"attempts":`, int64(c.Own.Attempts))
	b = append(appendInt(b, `,"failures":`, int64(c.Own.Failures)), '}')
	b = appendInt(b, `,"records":`, int64(c.Records))
	if c.Due != 0 {
		b = appendTime(b, `,"due":`, c.Due)
	}
	b = appendText(b, `,"grave":`, c.Grave)
	b = appendText(b, `,"copy":`, c.Copy)
	b = appendText(b, `,"origin":`, c.Origin)
	b = appendList(b, "deliveries", c.Deliveries, (*Delivery).appendJSON)
	b = appendList(b, "marks", c.Marks, Mark.appendJSON)
	b = appendList(b, "logs", c.Lines, Line.appendJSON)
	return append(b, '}')
}

func (d *Delivery) appendJSON(b []byte) []byte {
	b = journal.AppendQuoted(append(b, `{"id":`...), d.ID)
	b = appendInt(b, `,"count":`, d.Count)
	b = appendInt(b, `,"seq":`, int64(d.Seq))
	b = appendTime(b, `,"start":`, d.Start)
	if d.End != 0 {
		b = appendTime(b, `,"end":`, d.End)
	}
	b = appendText(b, `,"invocation":`, d.Invocation)
	b = appendText(b, `,"decision":`, d.Decision)
	b = appendText(b, `,"target":`, d.Target)
	b = appendText(b, `,"cause":`, d.Cause)
	b = appendText(b, `,"remark":`, d.Remark)
	if d.Limit != nil {
		b = appendInt(b, `,"limit":`, int64(*d.Limit))
	}
	b = appendList(b, "inputs", d.Inputs, func(pair []string, b []byte) []byte {
		b = append(journal.AppendQuoted(append(b, '['), pair[0]), ',')
		return append(journal.AppendQuoted(b, pair[1]), ']')
	})
	b = appendInt(b, `,"member":`, int64(d.Member))
	b = appendInt(b, `,"batch":`, int64(d.Batch))
	b = appendText(b, `,"answer":`, d.Answer)
	b = appendList(b, "attempts", d.Attempts, (*Try).appendJSON)
	return append(b, '}')
}

func (a *Try) appendJSON(b []byte) []byte {
	b = appendInt(append(b, '{'), `"number":`, int64(a.Number))
	b = appendInt(b, `,"seq":`, int64(a.Seq))
	b = appendTime(b, `,"start":`, a.Start)
	if a.End != 0 {
		b = appendTime(b, `,"end":`, a.End)
	}
	b = appendText(b, `,"status":`, a.Status)
	b = appendText(b, `,"error":`, a.Error)
	b = appendText(b, `,"stack":`, a.Stack)
	if a.Elapsed != 0 {
		b = appendInt(b, `,"elapsed":`, a.Elapsed)
	}
	if a.Delay != nil {
		b = appendTime(b, `,"delay":`, *a.Delay)
	}
	return append(b, '}')
}

func (m Mark) appendJSON(b []byte) []byte {
	b = appendInt(append(b, '{'), `"seq":`, int64(m.Seq))
	b = appendTime(b, `,"time":`, m.Time)
	b = journal.AppendQuoted(append(b, `,"kind":`...), m.Kind)
	b = journal.AppendQuoted(append(b, `,"text":`...), m.Text)
	if m.Delay != 0 {
		b = appendTime(b, `,"delay":`, m.Delay)
	}
	return append(b, '}')
}

func (l Line) appendJSON(b []byte) []byte {
	b = appendInt(append(b, '{'), `"seq":`, int64(l.Seq))
	b = appendTime(b, `,"time":`, l.Time)
	b = journal.AppendQuoted(append(b, `,"delivery":`...), l.Delivery)
	b = appendInt(b, `,"attempt":`, int64(l.Attempt))
	b = journal.AppendQuoted(append(b, `,"level":`...), l.Level)
	b = journal.AppendQuoted(append(b, `,"text":`...), l.Text)
	return append(b, '}')
}

// appendList appends a list that is not empty.
func appendList[T any](b []byte, name string, list []T, one func(T, []byte) []byte) []byte {
	if len(list) == 0 {
		return b
	}
	b = append(append(append(b, `,"`...), name...), `":[`...)
	for i, v := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = one(v, b)
	}
	return append(b, ']')
}

// appendText appends a text that is not empty.
func appendText(b []byte, name, text string) []byte {
	if text == "" {
		return b
	}
	return journal.AppendQuoted(append(b, name...), text)
}

func appendInt(b []byte, name string, n int64) []byte {
	return strconv.AppendInt(append(b, name...), n, 10)
}

// appendTime appends milliseconds, with what they say down to a thousandth.
func appendTime(b []byte, name string, ms float64) []byte {
	n := int64(math.Round(ms * 1e3))
	if b = append(b, name...); n < 0 {
		b, n = append(b, '-'), -n
	}
	b = strconv.AppendInt(b, n/1e3, 10)
	if below := n % 1e3; below != 0 {
		b = append(b, '.', byte('0'+below/100), byte('0'+below/10%10), byte('0'+below%10))
	}
	return b
}
