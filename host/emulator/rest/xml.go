package rest

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
)

// decodeXML reads a document of which nothing may be left over.
func decodeXML(b []byte, to any) *Error {
	dec := xml.NewDecoder(bytes.NewReader(bytes.TrimPrefix(b, []byte("\ufeff"))))
	if err := dec.Decode(to); err != nil {
		return errInvalidXML(err.Error())
	}
	if err := endOfXML(dec); err != nil {
		return errInvalidXML(err.Error())
	}
	return nil
}

// endOfXML demands that nothing but blanks and comments follows.
func endOfXML(dec *xml.Decoder) error {
	for {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		switch t := token.(type) {
		case xml.Comment, xml.ProcInst:
			continue
		case xml.CharData:
			if len(bytes.TrimSpace(t)) == 0 {
				continue
			}
		}
		return errors.New("something follows the document")
	}
}

// parseMessage reads the body of a put or an update. The text is nil when the
// document has no MessageText.
func parseMessage(b []byte) (text *string, refused *Error) {
	var document struct {
		XMLName xml.Name
		Fields  []struct {
			XMLName xml.Name
			Text    string `xml:",chardata"`
		} `xml:",any"`
	}
	if err := decodeXML(b, &document); err != nil {
		return nil, err
	}
	if !strings.EqualFold(document.XMLName.Local, "QueueMessage") {
		return nil, errInvalidXML("want an element QueueMessage, got " + document.XMLName.Local)
	}
	for i := range document.Fields {
		if strings.EqualFold(document.Fields[i].XMLName.Local, "MessageText") {
			return &document.Fields[i].Text, nil
		}
	}
	return nil, nil
}
