package api

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/sandbox/access"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/object"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/store"
)

// defaultTokenLife is how long a service account's token is valid unless its request says
// otherwise, as on an API server.
const defaultTokenLife = time.Hour

// claims is the content of a service account's token.
type claims struct {
	Subject   string `json:"sub"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	UID       string `json:"uid"`
	Expires   int64  `json:"exp"` // in the sandbox's time
}

// createToken answers a TokenRequest: a token of a service account, valid while the server
// runs.
func (s *Server) createToken(c *call) error {
	if c.Method != http.MethodPost {
		return notAllowed(c)
	}
	m, err := c.object()
	if err != nil {
		return err
	}
	var account *store.Object
	err = s.backend.View(c.Context(), func(st *store.Store) error {
		if account = st.Get(c.res.FullName(), c.namespace, c.name); account == nil {
			return notFound(c)
		}
		return nil
	})
	if err != nil {
		return err
	}
	life := defaultTokenLife
	if n, ok := object.Int(m, "spec", "expirationSeconds"); ok {
		if n < 600 {
			return badRequest("spec.expirationSeconds: Invalid value: may not specify a duration less than 10 minutes")
		}
		life = time.Duration(min(n, int64(maxTokenLife/time.Second))) * time.Second
	}
	expires := s.backend.Now().Add(life)
	token, err := s.sign(claims{Subject: "system:serviceaccount:" + c.namespace + ":" + c.name, Namespace: c.namespace, Name: c.name, UID: account.UID, Expires: expires.Unix()})
	if err != nil {
		return err
	}
	m["apiVersion"], m["kind"] = "authentication.k8s.io/v1", "TokenRequest"
	meta := object.Child(m, "metadata")
	meta["name"], meta["namespace"], meta["creationTimestamp"] = c.name, c.namespace, object.Stamp(s.backend.Now())
	object.Set(m, int64(life/time.Second), "spec", "expirationSeconds")
	m["status"] = map[string]any{"token": token, "expirationTimestamp": object.Stamp(expires)}
	return write(c.w, format{}, http.StatusCreated, m)
}

// maxTokenLife limits the life of a token.
const maxTokenLife = 24 * time.Hour

// sign returns the claims as a JSON Web Token.
func (s *Server) sign(c claims) (string, error) {
	body, err := json.Marshal(c)
	if err != nil {
		return "", err
	}
	text := encodePart([]byte(`{"alg":"HS256"}`)) + "." + encodePart(body)
	return text + "." + encodePart(s.mac(text)), nil
}

func encodePart(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

func (s *Server) mac(text string) []byte {
	h := hmac.New(sha256.New, s.key)
	h.Write([]byte(text))
	return h.Sum(nil)
}

// Authenticate returns the service account of a token that this server gave out.
func (s *Server) Authenticate(r *http.Request, token string) (access.User, bool) {
	i := strings.LastIndexByte(token, '.')
	if i < 0 {
		return access.User{}, false
	}
	signature, err := base64.RawURLEncoding.DecodeString(token[i+1:])
	if err != nil || !hmac.Equal(signature, s.mac(token[:i])) {
		return access.User{}, false
	}
	_, part, _ := strings.Cut(token[:i], ".")
	body, err := base64.RawURLEncoding.DecodeString(part)
	var c claims
	if err != nil || json.Unmarshal(body, &c) != nil || c.Expires <= s.backend.Now().Unix() {
		return access.User{}, false
	}
	there := false
	err = s.backend.View(r.Context(), func(st *store.Store) error {
		o := st.Get("serviceaccounts", c.Namespace, c.Name)
		there = o != nil && o.UID == c.UID
		return nil
	})
	return access.ServiceAccount(c.Namespace, c.Name, c.UID), err == nil && there
}
