package dotnet

import (
	"path/filepath"
	"regexp"
	"strings"
)

var (
	comment   = regexp.MustCompile(`(?s)<!--.*?-->`)
	secretsID = regexp.MustCompile(`(?i)<UserSecretsId>\s*([^<]*?)\s*</UserSecretsId>`)
)

// SecretsFile is where the user secrets of a project are, or would be: what the project file
// says as UserSecretsId names their folder in the home of the user, whose environment
// variables lookup knows. Empty without such a property, or without a home.
//
// Source: azure-functions-core-tools: ProjectHelpers.GetUserSecretsId; dotnet/runtime:
// PathHelper.cs of Microsoft.Extensions.Configuration.UserSecrets.
func SecretsFile(project string, lookup func(name string) string) string {
	m := secretsID.FindStringSubmatch(comment.ReplaceAllString(contentOf(project), ""))
	if m == nil || m[1] == "" || strings.ContainsAny(m[1], `/\:*?"<>|`) || strings.Contains(m[1], "$(") {
		return ""
	}
	if roaming := lookup("APPDATA"); roaming != "" {
		return filepath.Join(roaming, "Microsoft", "UserSecrets", m[1], "secrets.json")
	}
	for _, name := range []string{"HOME", "DOTNET_USER_SECRETS_FALLBACK_DIR"} {
		if home := lookup(name); home != "" {
			return filepath.Join(home, ".microsoft", "usersecrets", m[1], "secrets.json")
		}
	}
	return ""
}
