package triggers

import (
	"encoding/json"

	"github.com/redeliver/redeliver/bindings"
)

// Body is what a delivery gives to the function, as text; of a batch an array of texts in
// JSON. It is empty for what is read in each attempt only.
func (ev *Event) Body() string {
	texts := make([]string, len(ev.Messages))
	for i := range ev.Messages {
		texts[i] = textOf(&ev.Messages[i].Value)
	}
	switch {
	case ev.Batch:
		list, _ := json.Marshal(texts) // texts can always be written
		return string(list)
	case len(texts) == 0:
		return ""
	}
	return texts[0]
}

func textOf(v *bindings.Value) string {
	switch {
	case v.HTTP != nil:
		return string(v.HTTP.Body)
	case v.Data != nil:
		return string(v.Data)
	case v.Model != nil:
		return string(v.Model.Content)
	}
	return v.Text
}
