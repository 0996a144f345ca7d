package scaffold

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/redeliver/redeliver/cmd/redeliver/cli"
	"github.com/redeliver/redeliver/cmd/redeliver/osfile"
	"github.com/redeliver/redeliver/cmd/redeliver/remote"
	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/app/appsettings"
	"github.com/redeliver/redeliver/host/kinds/served"
	"github.com/redeliver/redeliver/schemas"
)

// NewNew returns the command that writes a new function.
func NewNew(std cli.Streams) *cobra.Command {
	r := &remote.Remote{Std: std}
	var trigger, on, connection, dir string
	cmd := &cobra.Command{
		Use:   "new NAME --trigger KIND",
		Short: "Add a function to an app",
		Long: `New adds a function to the app in --dir (default: this folder), in the app's
language and model: Go, JavaScript or TypeScript, Python, each in code or with a
function.json, Java, C#, or the function.json for a custom handler. The function
logs what it is given. A setting that its trigger needs and that is missing is
added to local.settings.json, and leads to the embedded services.

--on names what the trigger is bound to: the route of http, the schedule of
timer, the queue, the path of blob (orders/{name}), TOPIC/SUBSCRIPTION, the hub,
DATABASE/CONTAINER. A durable function is an orchestration with an activity
NAMEStep and a function NAMEStart that starts it over HTTP; it is written in
code, in JavaScript, TypeScript and Python. No file is overwritten; a running
host reloads the app.`,
		Example: `  redeliver new OnOrder --trigger queue
  redeliver new OnInvoice --trigger servicebus-topic --on invoices/all --dir shop`,
		Args: cli.Arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			n, err := newFunctionOf(args[0], trigger, on, connection)
			if err != nil {
				return err
			}
			if !cmd.Flags().Changed("dir") {
				dir, err = remote.AppAbove(nil)
			} else {
				dir, err = filepath.Abs(dir)
			}
			if err != nil {
				return err
			}
			return n.add(dir, r)
		},
	}
	cmd.Flags().BoolVar(&r.AsJSON, "json", false, "write the answer as JSON")
	cmd.Flags().StringVarP(&trigger, "trigger", "t", "", kindNames())
	cmd.Flags().StringVar(&on, "on", "", "what the trigger is bound to (default: made of NAME)")
	cmd.Flags().StringVar(&connection, "connection", "", "setting that holds the connection (default: AzureWebJobsStorage, AzureWebJobsServiceBus, ...)")
	cmd.Flags().StringVarP(&dir, "dir", "C", "", "folder of the app (default: this folder or one above it)")
	return cmd
}

// change is a file that a new function makes or changes.
type change struct {
	file string // below the app, with slashes
	text string
	made bool // the file must not be there
}

// addition is what a new function does to an app.
type addition struct {
	changes []change
	before  string   // a command that has to run before the start; empty: none
	left    []string // what the user has to do in the code
}

// add writes the function into the app, and says what comes next.
func (n *newFunction) add(dir string, r *remote.Remote) error {
	if info, err := os.Stat(filepath.Join(dir, "host.json")); err != nil || info.IsDir() {
		return cli.Hinted(fmt.Errorf("there is no host.json in %q", dir), "name the folder of the app with --dir; redeliver init writes a new app")
	}
	a, err := app.Load(dir, &app.Options{Env: appsettings.Environment(os.Environ()), Kinds: served.Facts()})
	if err != nil {
		return err
	}
	for _, f := range a.Functions {
		for _, name := range n.names() {
			if strings.EqualFold(f.Name, name) {
				return cli.Hinted(fmt.Errorf("the app has a function %q already, in %s", f.Name, f.File), "choose another name")
			}
		}
	}
	added, err := n.of(a)
	if err != nil {
		return err
	}
	names, values := n.missingSettings(a)
	setting, err := withSettings(a, names, values)
	if err != nil {
		return err
	}
	if setting != nil {
		added.changes = append(added.changes, *setting)
	}
	if err := writeChanges(dir, added.changes); err != nil {
		return err
	}
	done := map[string][]string{}
	var text strings.Builder
	for _, c := range added.changes {
		verb := "changed"
		if c.made {
			verb = "wrote"
		}
		done[verb] = append(done[verb], c.file)
		cli.Writef(&text, "%s %s\n", verb, c.file)
	}
	if err := r.Say(done, text.String()); err != nil {
		return err
	}
	if setting != nil {
		added.left = append(added.left, fmt.Sprintf("%s in local.settings.json: the embedded services; a host that runs reads it at its next start", strings.Join(names, " and ")))
	}
	n.sayNext(dir, added, cli.NewConsole(r.Std, true))
	return nil
}

// sayNext names the commands that come next.
func (n *newFunction) sayNext(dir string, added *addition, out *cli.Console) {
	for _, left := range added.left {
		out.Hint(left)
	}
	if added.before != "" {
		out.Hint("run in the app's folder: " + added.before)
	}
	if here, err := os.Getwd(); err == nil {
		if relative, err := filepath.Rel(here, dir); err == nil && filepath.IsLocal(relative) {
			dir = relative
		}
	}
	out.Hint(cli.CommandFor("start", dir))
	for _, command := range n.kind.try {
		source := n.source
		if n.kind.name == "blob" {
			source = nameVariable.ReplaceAllString(source, "readme") + " " + cli.ShellWord(filepath.Join(dir, "host.json"))
		} else if n.kind.name == "servicebus-topic" {
			source = n.words["First"]
		}
		command = strings.NewReplacer("#", source, "$", n.name, "%", lowerName(n.name)).Replace(command)
		if filepath.Clean(dir) != "." {
			command += " --dir " + cli.ShellWord(dir)
		}
		out.Hint("redeliver " + command)
	}
}

// nameVariable matches a binding expression in a path.
var nameVariable = regexp.MustCompile(`\{[^}]*\}`)

// of is what the function does to an app in its language.
func (n *newFunction) of(a *app.App) (*addition, error) {
	h := &a.Handler
	switch {
	case n.kind.coded && h.Runtime != "" && h.Runtime != "node" && h.Runtime != "python", n.kind.coded && (h.Kind == app.GoSource || h.Kind == app.Custom):
		return nil, cli.Hinted(fmt.Errorf("new writes a function of kind %s in JavaScript, TypeScript and Python only", n.kind.name), "docs/services/durable.md says what is served in other languages")
	case h.Kind == app.GoSource:
		return n.inGo(a)
	case h.Kind == app.Custom:
		return &addition{
			changes: []change{{n.name + "/function.json", n.functionFile("res"), true}},
			left:    []string{fmt.Sprintf("the custom handler has to answer POST /%s", n.name)},
		}, nil
	case h.Runtime == "node":
		return n.inNode(a)
	case h.Runtime == "python":
		return n.inPython(a)
	case h.Runtime == "java":
		return n.inJava(a)
	case h.Runtime == "dotnet-isolated":
		return n.inDotnet(a)
	case h.Kind == app.Executable:
		return nil, cli.Hinted(errors.New("the functions of this app are in a program that is built elsewhere"), "run redeliver new in the folder of its Go source")
	case h.Fault != nil:
		return nil, h.Fault
	case h.Runtime != "":
		return nil, fmt.Errorf("the functions of this app are for the runtime %q, and new writes Go, JavaScript, TypeScript, Python, Java, C# and function.json for custom handlers only", h.Runtime)
	}
	return nil, cli.Hinted(errors.New("nothing in the folder says which language the app is written in"), "set FUNCTIONS_WORKER_RUNTIME in local.settings.json to node, python, java, dotnet-isolated or custom, or write a new app with redeliver init")
}

// missingSettings are those that the function needs and the app does not have, with
// values that lead to the embedded services: its connection, and the storage of the host,
// which every trigger but http needs.
func (n *newFunction) missingSettings(a *app.App) (names, values []string) {
	need := func(name, like string) {
		if _, has := a.Settings.Connection(name); !has && !slices.Contains(names, name) {
			names, values = append(names, name), append(values, embeddedConnections[like])
		}
	}
	if n.kind.name != "http" {
		need("AzureWebJobsStorage", "AzureWebJobsStorage")
	}
	if n.kind.setting != "" {
		need(n.connection, n.kind.setting)
	}
	return names, values
}

// withSettings adds settings to local.settings.json.
func withSettings(a *app.App, names, values []string) (*change, error) {
	const file = "local.settings.json"
	var entries []string
	for i, name := range names {
		entries = append(entries, fmt.Sprintf("%q: %q", name, values[i]))
	}
	added := "\n    " + strings.Join(entries, ",\n    ")
	text, err := os.ReadFile(filepath.Join(a.Dir, file))
	switch {
	case len(names) == 0:
		return nil, nil
	case errors.Is(err, fs.ErrNotExist):
		return &change{file, "{\n  \"IsEncrypted\": false,\n  \"Values\": {" + added + "\n  }\n}\n", true}, nil
	case err != nil:
		return nil, err
	}
	changed, ok := withEntries(text, added, names, values)
	if !ok || a.Settings.Unreadable() {
		return nil, cli.Hinted(fmt.Errorf("%s holds no object \"Values\" that a setting could be added to", file), "add the setting "+names[0]+" yourself")
	}
	return &change{file: file, text: changed}, nil
}

// settingsValues matches the beginning of the settings, and what looks like it elsewhere.
var settingsValues = regexp.MustCompile(`(?i)"Values"\s*:\s*\{`)

// withEntries adds entries to the settings of a file, at the place where a reader finds
// them then. It reports false for a file without one.
func withEntries(text []byte, added string, names, values []string) (changed string, ok bool) {
	for _, at := range settingsValues.FindAllIndex(text, -1) {
		end, rest := ",", string(text[at[1]:])
		if inside := strings.TrimLeft(rest, " \t\r\n"); strings.HasPrefix(inside, "}") {
			end, rest = "\n  ", inside
		}
		changed := string(text[:at[1]]) + added + end + rest
		if hasSettings([]byte(changed), names, values) {
			return changed, true
		}
	}
	return "", false
}

// hasSettings reports whether a file of settings has these.
func hasSettings(text []byte, names, values []string) bool {
	doc, fault := schemas.Parse("", text)
	if fault != nil {
		return false
	}
	root, _ := doc.Value().(map[string]any)
	for key, section := range root {
		if settings, isObject := section.(map[string]any); isObject && strings.EqualFold(key, "Values") {
			for i, name := range names {
				if settings[name] != values[i] {
					return false
				}
			}
			return true
		}
	}
	return false
}

// writeChanges writes all files, or none when one of them is there that must not be.
func writeChanges(dir string, changes []change) error {
	for _, c := range changes {
		if _, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(c.file))); c.made && !errors.Is(err, fs.ErrNotExist) {
			return cli.Hinted(fmt.Errorf("%q already exists", c.file), "choose another name, or remove the file")
		}
	}
	// What refers to the new file comes last: a host that runs may read it at once.
	slices.SortStableFunc(changes, func(a, b change) int {
		switch {
		case a.made == b.made:
			return 0
		case a.made:
			return -1
		}
		return 1
	})
	for _, c := range changes {
		path := filepath.Join(dir, filepath.FromSlash(c.file))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return fmt.Errorf("cannot make folder %q: %w", filepath.Dir(path), cli.Reason(err))
		}
		if err := writeWhole(path, c); err != nil {
			return fmt.Errorf("cannot write %q: %w", c.file, cli.Reason(err))
		}
	}
	return nil
}

// writeWhole writes a file that was not there, or changes one so that readers see it as it
// was, or as it is.
func writeWhole(path string, c change) error {
	if c.made {
		file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if err != nil {
			return err
		}
		_, err = file.WriteString(c.text)
		return errors.Join(err, file.Close())
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	part, err := os.CreateTemp(filepath.Dir(path), ".redeliver-new-*")
	if err != nil {
		return err
	}
	defer os.Remove(part.Name())
	_, err = part.WriteString(withEndsOf(path, c.text))
	if err := errors.Join(err, part.Chmod(info.Mode().Perm()), part.Close()); err != nil {
		return err
	}
	return osfile.Replace(part.Name(), path)
}

// withEndsOf is the text of a file with the line ends that the file has.
func withEndsOf(path, text string) string {
	before, err := os.ReadFile(path)
	if ends := bytes.Count(before, []byte("\r\n")); err != nil || ends == 0 || ends < bytes.Count(before, []byte("\n")) {
		return text
	}
	return strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\n", "\r\n")
}
