package atom

import (
	"net/http"
	"strings"

	"github.com/redeliver/redeliver/bindings/servicebus"
)

const sharedAccess = "SharedAccessAuthorizationRule"

// authorizationRules reads the authorization rules of a description.
func (f *fields) authorizationRules() []servicebus.AuthorizationRule {
	list := f.of.child("AuthorizationRules")
	if list == nil {
		return nil
	}
	var rules []servicebus.AuthorizationRule
	for _, e := range list.children {
		if e.name != "AuthorizationRule" || e.kind() != "" && e.kind() != sharedAccess {
			if f.err == nil {
				f.err = fail(http.StatusBadRequest, "authorization rule %q of type %q; want %s", e.name, e.kind(), sharedAccess)
			}
			return nil
		}
		of := fields{of: e}
		name, _ := of.scalar("KeyName")
		rule := servicebus.AuthorizationRule{KeyName: name, PrimaryKey: of.text("PrimaryKey"), SecondaryKey: of.text("SecondaryKey")}
		if rights := e.child("Rights"); rights != nil {
			for _, r := range rights.children {
				rule.Rights = append(rule.Rights, servicebus.Right(strings.TrimSpace(r.text)))
			}
		}
		rules = append(rules, rule)
	}
	return rules
}

// authorizationRules writes them, as the service does without the times at which they
// were made (azure-sdk-for-go, azservicebus/admin live test QueueWithMaxValues).
func (w *writer) authorizationRules(rules []servicebus.AuthorizationRule) {
	if len(rules) == 0 {
		w.empty("AuthorizationRules")
		return
	}
	w.open("AuthorizationRules")
	for _, r := range rules {
		w.open("AuthorizationRule", "xmlns:i", instanceSpace, "i:type", sharedAccess)
		w.field("ClaimType", "SharedAccessKey")
		w.field("ClaimValue", "None")
		w.open("Rights")
		for _, right := range r.Rights {
			w.field("AccessRights", string(right))
		}
		w.close("Rights")
		w.field("KeyName", r.KeyName)
		w.field("PrimaryKey", r.PrimaryKey)
		w.field("SecondaryKey", r.SecondaryKey)
		w.close("AuthorizationRule")
	}
	w.close("AuthorizationRules")
}
