package app

import (
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/host/app/appsettings"
	"github.com/redeliver/redeliver/host/app/document"
	"github.com/redeliver/redeliver/schemas"
)

// readBindings reads the list of bindings. The schema reports what is wrong in
// one binding by itself; here everything readable is kept.
func (l *loader) readBindings(f *Function, raw, canonical any) {
	list, _ := raw.([]any)
	converted, _ := canonical.([]any)
	for i, item := range list {
		props, ok := item.(map[string]any)
		if !ok {
			continue
		}
		if i < len(converted) {
			convert(props, converted[i])
		}
		b := &Binding{Path: schemas.IndexPath(f.at("bindings"), i), Props: props}
		b.Name, b.Type = b.String("name"), b.String("type")
		l.renamedProperties(f, b)
		readDirection(b, &l.opts.Kinds)
		b.DataType, b.Cardinality = strings.ToLower(b.String("dataType")), strings.ToLower(b.String("cardinality"))
		f.Bindings = append(f.Bindings, b)
	}
}

// convert gives properties the value that the platform reads out of a number, or out of a
// text that names a word by its number.
func convert(props map[string]any, canonical any) {
	members, _ := canonical.(map[string]any)
	for key, value := range props {
		for name, now := range members {
			if !strings.EqualFold(name, key) {
				continue
			}
			text, isText := now.(string)
			_, isBool := now.(bool)
			switch v := value.(type) {
			case nil, json.Number:
				if isText || isBool {
					props[key] = now
				}
			case bool:
				if isText && text != "True" && text != "False" {
					props[key] = now
				}
			case string:
				if isText && !strings.EqualFold(text, v) {
					props[key] = now
				}
			}
		}
	}
}

// checkBindings applies the rules between bindings: unique names, one trigger
// (spec host-and-retry 5.4; host: FunctionDescriptorProvider.cs ValidateFunction).
func (l *loader) checkBindings(f *Function) {
	if f.doc == nil || len(f.Bindings) == 0 {
		return
	}
	var triggers []*Binding
	for i, b := range f.Bindings {
		if b.IsTrigger() {
			triggers = append(triggers, b)
		}
		sameName := func(other *Binding) bool { return b.Name != "" && strings.EqualFold(other.Name, b.Name) }
		if slices.ContainsFunc(f.Bindings[:i], sameName) {
			f.fault(duplicateName, b.PathOf("name"), schemas.KindInvalidOperation, schemas.Quote(b.Name), "",
				"multiple bindings have this name: letter case does not count")
		}
	}
	switch len(triggers) {
	case 1:
		f.Trigger = triggers[0]
	case 0:
		fault := f.fault(triggerCount, f.at("bindings"), schemas.KindInvalidOperation, "", "exactly one trigger",
			"no trigger binding is specified: a function must have one with direction in")
		for _, b := range f.Bindings {
			if isTriggerType(b.Type) {
				fault.Hint = fmt.Sprintf("the direction of %s must be in; a trigger declared %s does not count", b.Type, b.Direction)
			}
		}
	default:
		for _, extra := range triggers[1:] {
			f.fault(triggerCount, extra.PathOf("type"), schemas.KindInvalidOperation, schemas.Quote(extra.Type), "exactly one trigger",
				fmt.Sprintf("multiple triggers: the function already has %s", triggers[0].Type))
		}
	}
}

// indexer finds out what the bindings of functions mean: their kinds, settings and
// connections.
type indexer struct {
	*reading
	lacking map[string]*lack // by the name of the setting, in upper case
}

// index does what the platform does when it indexes a function: resolves
// settings, finds the kinds of its bindings and their connections.
func (l *indexer) index(f *Function) {
	for _, b := range f.Bindings {
		l.resolve(f, b)
		if b.Type == "" {
			continue
		}
		if isTriggerType(b.Type) {
			l.indexTrigger(f, b)
		} else {
			l.indexBinding(f, b)
		}
	}
	if f.Kind != nil && f.Kind.Warn != nil {
		for _, warning := range f.Kind.Warn(l.app, f) {
			f.warn(f.completed(warning, f.Trigger))
		}
	}
	if f.Kind == nil || f.Kind.Validate == nil || len(f.staged) > 0 && f.FaultIn(f.Trigger.Path) {
		return
	}
	for _, fault := range f.Kind.Validate(l.app, f) {
		f.record(indexing, f.completed(fault, f.Trigger))
	}
}

// completed adds to a fault that a kind found what the kind may leave out.
func (f *Function) completed(fault *schemas.Fault, b *Binding) *schemas.Fault {
	if fault.Path == "" {
		fault.Path = b.Path
	}
	fault.Reason = strings.TrimSuffix(fault.Reason, ".")
	if fault.Found != "" && !strings.HasPrefix(fault.Found, `"`) {
		fault.Found = schemas.Quote(fault.Found)
	}
	if fault.File == "" {
		fault.File = f.file()
	}
	return document.Position(fault, f.doc)
}

// FaultIn reports whether there is a fault at or below a JSON path. Checks of a
// function use it while the function is loaded.
func (f *Function) FaultIn(path string) bool {
	for _, s := range f.staged {
		if s.fault.Path == path || strings.HasPrefix(s.fault.Path, path+".") || strings.HasPrefix(s.fault.Path, path+"[") {
			return true
		}
	}
	return false
}

// resolve replaces %NAME% in every property.
func (l *indexer) resolve(f *Function, b *Binding) {
	resolved := document.Resolve(b.Props, b.Path, func(path, text string) string {
		if kind := l.opts.Kinds.trigger(b.Type); kind != nil && kind.Literal != "" && path == b.PathOf(kind.Literal) {
			return text
		}
		value, missing := l.app.Settings.Unresolved(text)
		for _, err := range missing {
			fault := appsettings.SettingFault(f.doc, path, text, err)
			if !b.IsTrigger() {
				fault.Reason += "; " + FailsDeliveries
			}
			f.record(indexing, fault)
			if e, ok := errors.AsType[*bindings.SettingError](err); ok && e.Name != "" {
				l.lack("%"+e.Name+"%", f, fault)
			}
		}
		return value
	})
	b.Props, _ = resolved.(map[string]any)
	if b.Connection = b.String("connection"); strings.TrimSpace(b.Connection) == "" {
		b.Connection = ""
	}
}

func (l *indexer) indexTrigger(f *Function, b *Binding) {
	if foreign := l.foreignTrigger(b.Type); foreign != nil {
		if b == f.Trigger {
			l.leaveOut(f, b, foreign)
		}
		return
	}
	kind := l.opts.Kinds.trigger(b.Type)
	if kind == nil {
		l.unknownType(f, b)
		return
	}
	if b != f.Trigger {
		return
	}
	f.Kind = kind
	l.connection(f, b, kind.Connection, kind.NeedsStorage)
}

func (l *indexer) indexBinding(f *Function, b *Binding) {
	kind := l.opts.Kinds.binding(b.Type)
	b.Kind = kind
	switch {
	case kind == nil:
		l.unknownType(f, b)
	case !slices.Contains(kind.Directions, b.Direction):
		if path := b.PathOf("direction"); !f.FaultIn(path) {
			fault := f.fault(indexing, path, "", schemas.Quote(b.Direction), strings.Join(kind.Directions, ", "), fmt.Sprintf("the binding %s has no such direction", kind.Type))
			if b.Value("direction") == nil {
				fault.Found, fault.Hint = "", "a binding that names no direction is an input"
			}
		}
	case !kind.serves(b.Direction):
		l.foreign(f, b, kind, kind.reason(b.Direction))
	case l.unserved(f, b, kind) != "":
		l.foreign(f, b, kind, l.unserved(f, b, kind))
	default:
		l.connection(f, b, kind.Connection, false)
		if kind.Validate != nil {
			for _, fault := range kind.Validate(l.app, f, b) {
				if !f.FaultIn(fault.Path) {
					f.record(indexing, f.completed(fault, b))
				}
			}
		}
		if kind.Warn != nil {
			for _, fault := range kind.Warn(l.app, f, b) {
				if !f.FaultIn(fault.Path) {
					f.warn(f.completed(fault, b))
				}
			}
		}
	}
}

// unknownType reports a type that is in neither table, with the nearest name.
func (l *indexer) unknownType(f *Function, b *Binding) {
	fault := f.fault(indexing, b.PathOf("type"), schemas.KindConfiguration, schemas.Quote(b.Type), l.types(isTriggerType(b.Type)),
		"the binding type is not registered")
	fault.Hint = "check its spelling"
	var known []string
	for _, k := range l.opts.Kinds.Triggers {
		known = append(known, k.Type)
	}
	for _, k := range slices.Concat(l.opts.Kinds.Bindings, foreignKinds) {
		known = append(known, k.Type)
	}
	if near := schemas.Nearest(b.Type, known); near != "" {
		fault.Hint = "did you mean " + schemas.Quote(near) + "?"
	}
}

// types lists what is served.
func (l *indexer) types(triggers bool) string {
	var names []string
	if triggers {
		for _, k := range l.opts.Kinds.Triggers {
			names = append(names, k.Type)
		}
	} else {
		for _, k := range l.opts.Kinds.Bindings {
			names = append(names, k.Type)
		}
	}
	return strings.Join(names, ", ")
}

// connection checks that a binding's connection exists (spec storage 13). standard
// is the name that an absent one stands for. A missing host storage is reported
// once for the app when the trigger needs it anyway.
func (l *indexer) connection(f *Function, b *Binding, standard string, reportedForApp bool) {
	if standard == "" {
		return
	}
	path := b.PathOf("connection")
	if _, written := b.Value("connection").(string); written && b.Connection == "" {
		f.warnAt(path, `""`, "the name of a setting", fmt.Sprintf("the connection is empty; %s is used", settingName(standard)), "")
	}
	name := b.Connection
	if name == "" {
		name = standard
		if reportedForApp && strings.EqualFold(standard, "Storage") || l.hostStorageReported(f, standard) {
			return
		}
	}
	if f.FaultIn(path) || l.app.Settings.Unreadable() {
		return
	}
	if _, ok := l.app.Settings.Connection(name); ok {
		return
	}
	if reportedForApp && strings.EqualFold(settingName(name), appsettings.HostStorage) {
		return
	}
	err := appsettings.MissingConnection(name)
	if !strings.EqualFold(standard, "Storage") {
		err = fmt.Errorf("connection string '%s' does not exist", settingName(name))
	}
	fault := f.fault(indexing, path, schemas.KindInvalidOperation, schemas.Quote(b.Connection), "the name of a setting", strings.TrimSuffix(err.Error(), "."))
	if b.Connection == "" {
		fault.Found = ""
	}
	fault.Hint = fmt.Sprintf("set %s or %s in the environment or under Values in %s", name, settingName(name), document.LocalFile)
	if strings.EqualFold(name, settingName(name)) {
		fault.Hint = fmt.Sprintf("set %s in the environment or under Values in %s", name, document.LocalFile)
	}
	fault.Hint += embeddedBy(standard)
	if !b.IsTrigger() && b.Kind != nil {
		fault.Reason += "; " + FailsDeliveries
	}
	if strings.ContainsAny(name, ";=") {
		fault.Hint = "connection holds the name of a setting, never the connection string itself"
		return
	}
	l.lack(settingName(name), f, fault)
}

// embeddedBy says by which value a connection means what this host serves.
func embeddedBy(standard string) string {
	switch {
	case strings.EqualFold(standard, "Storage"):
		return "; for the embedded storage to UseDevelopmentStorage=true"
	case strings.EqualFold(standard, "ServiceBus"), strings.EqualFold(standard, "EventHub"):
		return "; for the embedded namespace to " + embeddedServiceBus
	case strings.EqualFold(standard, cosmosConnection):
		return "; for the embedded account to AccountEndpoint=https://localhost:8081/"
	}
	return ""
}

// lack notes that a function lacks a setting. The fault is reported once, for the
// first of several functions, and names the others.
func (l *indexer) lack(setting string, f *Function, fault *schemas.Fault) {
	if l.lacking == nil {
		l.lacking = map[string]*lack{}
	}
	key := strings.ToUpper(setting)
	first := l.lacking[key]
	if first == nil {
		l.lacking[key] = &lack{fault: fault, function: f.Name}
		return
	}
	if f.repeats == nil {
		f.repeats = map[*schemas.Fault]bool{}
	}
	f.repeats[fault] = true
	if f.Name != first.function && !slices.Contains(first.others, f.Name) {
		first.others = append(first.others, f.Name)
	}
}

// A lack is a setting that functions need and that does not exist.
type lack struct {
	fault    *schemas.Fault // of the first function
	function string
	others   []string
}

// nameOthers completes the single fault for a setting that several functions
// lack.
func (l *indexer) nameOthers() {
	for _, first := range l.lacking {
		if len(first.others) > 0 {
			first.fault.Reason += "; these need it too: " + strings.Join(first.others, ", ")
		}
	}
}

// Repeats reports whether a fault of the function only repeats what the fault of
// another function says of a missing setting.
func (f *Function) Repeats(fault *schemas.Fault) bool { return f.repeats[fault] }

// embeddedServiceBus is the shortest connection string of an emulator that all SDKs
// read (spec messaging 3.10).
const embeddedServiceBus = "Endpoint=sb://localhost;SharedAccessKeyName=RootManageSharedAccessKey;SharedAccessKey=SAS_KEY_VALUE;UseDevelopmentEmulator=true;"

// hostStorageReported says whether the app as a whole already misses its host
// storage because of this function's trigger.
func (l *indexer) hostStorageReported(f *Function, standard string) bool {
	return strings.EqualFold(standard, "Storage") && f.Trigger != nil && f.Kind != nil && f.Kind.NeedsStorage
}

func settingName(connection string) string {
	if document.HasPrefixFold(connection, appsettings.ConnectionPrefix) {
		return connection
	}
	return appsettings.ConnectionPrefix + connection
}

// MayBecome reports whether a name may come of a binding's text with expressions in it.
func MayBecome(template, name string) bool {
	var pattern strings.Builder
	depth := 0
	for _, c := range template {
		switch {
		case c == '{':
			if depth++; depth == 1 {
				pattern.WriteByte('*')
			}
		case c == '}' && depth > 0:
			depth--
		case depth == 0:
			pattern.WriteRune(c)
		}
	}
	ok, err := path.Match(pattern.String(), name)
	return ok && err == nil
}
