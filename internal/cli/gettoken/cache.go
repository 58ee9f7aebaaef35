package gettoken

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/atomicfile"
	"github.com/hyperpod-cli/hyperpod/internal/bounded"
	"github.com/hyperpod-cli/hyperpod/internal/discovery/aws"
	"github.com/hyperpod-cli/hyperpod/internal/pattern"
)

// margin is the time that a cached token must still be valid for.
const margin = time.Minute

// identity are the variables that choose whose token it is.
var identity = []string{
	"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE", "AWS_DEFAULT_PROFILE", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_ROLE_ARN", "AWS_ROLE_SESSION_NAME",
	"AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_CONTAINER_CREDENTIALS_FULL_URI",
	"AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_STS", "HOME", "USERPROFILE",
}

// cache is the file that holds one token. Its name depends on everything that chooses the identity, and on the
// state of the AWS files: after a change of any of them, a new token is signed.
type cache struct{ path string }

func newCache(dir string, o *Options, env func(string) string) *cache {
	h := sha256.New()
	add := func(text string) { fmt.Fprintf(h, "%d:%s\n", len(text), text) }
	for _, text := range []string{o.EKS, o.Account.Region, o.Account.Profile, o.Role} {
		add(text)
	}
	for _, name := range identity {
		add(env(name))
	}
	for _, path := range aws.Files(env) {
		if info, err := os.Stat(path); err == nil {
			add(info.ModTime().Format(time.RFC3339Nano) + fmt.Sprint(info.Size()))
		} else {
			add("")
		}
	}
	return &cache{filepath.Join(dir, "tokens", hex.EncodeToString(h.Sum(nil)[:16])+".json")}
}

// load returns the token, if it will be valid for a while. A file that cannot be read counts as missing.
func (c *cache) load(now time.Time) (aws.Token, bool) {
	var token aws.Token
	data, err := bounded.File(c.path, bounded.Settings)
	if err != nil || json.Unmarshal(data, &token) != nil || token.Value == "" {
		return token, false
	}
	return token, now.Add(margin).Before(token.Expires) && now.Add(time.Hour).After(token.Expires)
}

// prune removes tokens that expired long ago: those of other clusters and identities. What
// cannot be removed stays.
func (c *cache) prune(now time.Time) {
	dir := filepath.Dir(c.path)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		info, err := e.Info()
		if err == nil && info.Mode().IsRegular() && cachedName().MatchString(e.Name()) && info.ModTime().Add(keep).Before(now) {
			_ = os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}

// keep is the time after which no token of a file is valid: EKS accepts them for 15
// minutes.
const keep = time.Hour

// cachedName is the form of the names of cached tokens.
var cachedName = pattern.Lazy(`^[0-9a-f]{32}\.json$`)

// save replaces the file.
func (c *cache) save(token aws.Token) error {
	if err := os.MkdirAll(filepath.Dir(c.path), 0o700); err != nil {
		return err
	}
	_, err := atomicfile.Write(c.path, func(f *os.File) error { return json.NewEncoder(f).Encode(token) })
	return err
}
