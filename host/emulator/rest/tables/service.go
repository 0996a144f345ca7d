package tables

import (
	"bytes"
	"context"
	"encoding/xml"
	"net/http"
	"slices"

	"github.com/redeliver/redeliver/bindings/storage"
	"github.com/redeliver/redeliver/bindings/table"
	"github.com/redeliver/redeliver/host/emulator/rest"
	"github.com/redeliver/redeliver/host/emulator/rest/odata"
)

// tableLetters are the rights that a policy of a table can give.
const tableLetters = "raud"

func queryTables(c call) error {
	query := c.Query.Values
	if err := odata.CheckQuery(query); err != nil {
		return err
	}
	q := &table.Query{Filter: query.Get("$filter")}
	var limited bool
	var err error
	if q.Top, limited, err = odata.Top(query); err != nil {
		return err
	}
	if query.Has("nexttablename") {
		name, err := odata.ParseToken(query.Get("nexttablename"))
		if err != nil {
			return err
		}
		q.From = &table.Key{Partition: table.Fold(name)}
	}
	var page *table.TablePage
	err = c.Inside(func(ctx context.Context) (err error) {
		page, err = c.Account.Tables.Tables(ctx, q)
		return err
	})
	if err != nil {
		return err
	}
	if limited && q.Top == 0 {
		page = &table.TablePage{}
	}
	if page.Next != "" {
		c.W.Header().Set("x-ms-continuation-NextTableName", odata.Token(page.Next))
	}
	return c.json(http.StatusOK, list(c.request().level, c.metadata("Tables", false), len(page.Names), func(b []byte, i int) []byte {
		return c.appendTable(b, page.Names[i], "")
	}))
}

// appendTable writes a table as an answer has it.
func (c call) appendTable(b []byte, name, metadata string) []byte {
	b = append(b, '{')
	member := func(key, value string) {
		b = append(append(table.AppendValue(b, key), ':'), table.AppendValue(nil, value)...)
		b = append(b, ',')
	}
	if metadata != "" && c.request().level != table.None {
		member("odata.metadata", metadata)
	}
	if c.request().level == table.Full {
		member("odata.type", c.Account.Name+".Tables")
		member("odata.id", c.Base()+"/Tables('"+name+"')")
		member("odata.editLink", "Tables('"+name+"')")
	}
	member("TableName", name)
	b[len(b)-1] = '}'
	return b
}

func createTable(c call) error {
	body, err := c.Body(table.MaxPayload)
	if err != nil {
		return err
	}
	in, err := table.Parse(body)
	if err != nil {
		return err
	}
	name, ok := in.Value("TableName").(string)
	if !ok {
		return table.NewError(table.CodePropertiesNeedValue)
	}
	if err := c.Inside(func(ctx context.Context) error { return c.Account.Tables.Table(name).Create(ctx) }); err != nil {
		return err
	}
	address := c.Base() + "/Tables('" + name + "')"
	c.W.Header().Set("Location", address)
	if prefer, _ := preference(c.R.Header); prefer == "return-no-content" {
		c.W.Header().Set("DataServiceId", address)
		return c.Answer(http.StatusNoContent, nil)
	}
	return c.json(http.StatusCreated, c.appendTable(nil, name, c.metadata("Tables", true)))
}

func getTable(c call) error {
	var page *table.TablePage
	folded := table.Fold(c.request().Table)
	err := c.Inside(func(ctx context.Context) (err error) {
		page, err = c.Account.Tables.Tables(ctx, &table.Query{Top: 1, From: &table.Key{Partition: folded}})
		return err
	})
	if err != nil {
		return err
	}
	if len(page.Names) == 0 || table.Fold(page.Names[0]) != folded {
		return table.NewError(table.CodeResourceNotFound)
	}
	return c.json(http.StatusOK, c.appendTable(nil, page.Names[0], c.metadata("Tables", true)))
}

func deleteTable(c call) error {
	return c.NoContent(func(ctx context.Context) error { return c.Account.Tables.Table(c.request().Table).DeleteTable(ctx) })
}

func getTableACL(c call) error {
	var policies []storage.AccessPolicy
	err := c.Inside(func(ctx context.Context) (err error) {
		policies, err = c.Account.TableAdmin.TablePolicies(ctx, c.request().Table)
		return err
	})
	if err != nil {
		return err
	}
	return c.Answer(http.StatusOK, rest.PoliciesDocument(policies))
}

func setTableACL(c call) error {
	b, err := c.Body(rest.MaxDocument)
	if err != nil {
		return err
	}
	policies, refused := rest.ParsePolicies(b, tableLetters)
	if refused != nil {
		return refused
	}
	return c.NoContent(func(ctx context.Context) error {
		return c.Account.TableAdmin.SetTablePolicies(ctx, c.request().Table, policies)
	})
}

func getTableProperties(c call) error {
	var p storage.ServiceProperties
	err := c.Inside(func(ctx context.Context) (err error) {
		p, err = c.Account.TableAdmin.TableServiceProperties(ctx)
		return err
	})
	if err != nil {
		return err
	}
	return c.Answer(http.StatusOK, rest.PropertiesDocument(p))
}

func setTableProperties(c call) error {
	b, err := c.Body(rest.MaxDocument)
	if err != nil {
		return err
	}
	if unknown, ok := unknownProperty(b); ok {
		return rest.ErrInvalidXML("tables have no setting " + unknown)
	}
	p, refused := rest.ParseProperties(b)
	if refused != nil {
		return refused
	}
	err = c.Inside(func(ctx context.Context) error { return c.Account.TableAdmin.SetTableServiceProperties(ctx, p) })
	if err != nil {
		return err
	}
	return c.Answer(http.StatusAccepted, nil)
}

// unknownProperty returns the name of a setting that tables do not have.
func unknownProperty(document []byte) (string, bool) {
	var x struct {
		Settings []struct {
			XMLName xml.Name
		} `xml:",any"`
	}
	if xml.NewDecoder(bytes.NewReader(bytes.TrimPrefix(document, []byte("\ufeff")))).Decode(&x) != nil {
		return "", false // which rest.ParseProperties says better
	}
	for _, s := range x.Settings {
		if !slices.Contains([]string{"Logging", "HourMetrics", "MinuteMetrics", "Cors"}, s.XMLName.Local) {
			return s.XMLName.Local, true
		}
	}
	return "", false
}
