package upload

import (
	"path"
	"slices"
	"strings"
)

// secretNames are patterns of file names that usually hold secrets, in lower case.
var secretNames = []string{
	".env", ".env.*", "*.env", ".envrc",
	"id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "*.pem", "*.key", "*.p12", "*.pfx", "*.jks", "*.keystore", "*.ppk", "*.kdbx",
	"credentials", "credentials.*", "*-credentials.json", ".git-credentials", "client_secret*.json", "service-account*.json", "service_account*.json",
	".netrc", "_netrc", ".pgpass", ".pypirc", ".npmrc", ".htpasswd", ".boto", ".s3cfg",
	"kubeconfig", "*.kubeconfig", "secrets.yaml", "secrets.yml", "secrets.json", "secrets.toml", "terraform.tfvars", "*.tfstate",
}

// examples are endings of files that show how a file with secrets looks.
var examples = []string{".example", ".sample", ".template", ".dist", ".pub"}

// secretFolders hold credentials of programs.
var secretFolders = []string{".aws", ".ssh", ".kube", ".gnupg", ".azure", ".gcloud"}

// Secret reports whether a file, or a folder with a slash at its end, usually holds
// secrets, by its name.
func Secret(p string) bool {
	if folder, ok := strings.CutSuffix(p, "/"); ok {
		return slices.Contains(secretFolders, path.Base(folder))
	}
	name := strings.ToLower(path.Base(p))
	if slices.ContainsFunc(examples, func(end string) bool { return strings.HasSuffix(name, end) }) {
		return false
	}
	return slices.ContainsFunc(secretNames, func(pattern string) bool {
		ok, _ := path.Match(pattern, name)
		return ok
	})
}
