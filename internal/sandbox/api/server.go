package api

import (
	"crypto/rand"
	"net/http"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/sandbox/access"
)

// Server is the HTTP handler.
type Server struct {
	backend   Backend
	resources []*resource
	// key signs the tokens of service accounts. They are valid as long as the server runs.
	key []byte
}

// NewServer returns a handler over a backend.
func NewServer(b Backend) *Server {
	return &Server{backend: b, resources: table(), key: []byte(rand.Text())}
}

// call is one request to a resource, parsed.
type call struct {
	*http.Request
	w         http.ResponseWriter
	user      access.User
	res       *resource
	namespace string
	name      string
	sub       string
	dryRun    bool
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if err := s.serve(w, r); err != nil {
		writeError(w, err)
	}
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) error {
	u, err := s.userOf(r)
	if err != nil {
		return err
	}
	r = r.WithContext(WithUser(r.Context(), u))
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	if parts[0] != "api" && parts[0] != "apis" || len(parts) < 3 || parts[0] == "apis" && len(parts) < 4 {
		if err := s.allow(r.Context(), u, access.Request{Verb: "get", Path: r.URL.Path}); err != nil {
			return err
		}
	}
	switch parts[0] {
	case "api":
		switch {
		case len(parts) == 1:
			return s.rootAPI(w, r)
		case parts[1] != "v1":
			return unknownPath(r.Method)
		}
		return s.group(w, r, "", "v1", parts[2:])
	case "apis":
		switch len(parts) {
		case 1:
			return s.rootAPIs(w, r)
		case 2:
			return s.groupDiscovery(w, r, parts[1])
		}
		return s.group(w, r, parts[1], parts[2], parts[3:])
	case "openapi":
		return s.openAPI(w, r, parts[1:])
	case "version":
		writeJSON(w, http.StatusOK, versionInfo())
		return nil
	case "healthz", "readyz", "livez":
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, err := w.Write([]byte("ok"))
		return err
	case "":
		return s.index(w)
	}
	return unknownPath(r.Method)
}

// group answers /api/v1/... and /apis/GROUP/VERSION/....
func (s *Server) group(w http.ResponseWriter, r *http.Request, group, version string, rest []string) error {
	if !s.serves(group, version) {
		return unknownPath(r.Method)
	}
	if len(rest) == 0 {
		return s.versionDiscovery(w, group, version)
	}
	c := &call{Request: r, w: w}
	c.user, _ = r.Context().Value(userKey{}).(access.User)
	// /namespaces/NS/KIND/... but /namespaces/NAME and /namespaces/NAME/status
	// are the namespace itself.
	if rest[0] == "namespaces" && len(rest) >= 3 && rest[2] != "status" && rest[2] != "finalize" {
		c.namespace, rest = rest[1], rest[2:]
	}
	c.res = s.find(group, version, rest[0])
	if c.res == nil || len(rest) > 3 || c.namespace != "" && !c.res.Namespaced {
		return unknownPath(r.Method)
	}
	if len(rest) > 1 {
		c.name = rest[1]
	}
	if len(rest) > 2 {
		c.sub = rest[2]
	}
	if c.name != "" && c.res.Namespaced && c.namespace == "" {
		return unknownPath(r.Method)
	}
	if err := s.allow(r.Context(), c.user, c.wanted()); err != nil {
		return err
	}
	if err := c.parseDryRun(); err != nil {
		return err
	}
	return s.dispatch(c)
}

func (s *Server) serves(group, version string) bool {
	for _, r := range s.resources {
		if r.Group == group && r.Version == version {
			return true
		}
	}
	return false
}

func (c *call) parseDryRun() error {
	for _, v := range c.URL.Query()["dryRun"] {
		switch v {
		case "":
		case "All":
			c.dryRun = true
		default:
			return badRequest(`dryRun: Unsupported value: "` + v + `": supported values: "All"`)
		}
	}
	return nil
}

func (s *Server) dispatch(c *call) error {
	if c.res.virtual {
		if c.Method != http.MethodPost || c.name != "" {
			return notAllowed(c)
		}
		return s.accessReview(c)
	}
	switch {
	case c.sub == "token" && c.res.Kind == "ServiceAccount":
		return s.createToken(c)
	case c.sub == "eviction" && c.res.Kind == "Pod":
		return s.evict(c)
	case c.sub == "log" && c.res.Kind == "Pod":
		return s.podLog(c)
	case c.sub == "exec" && c.res.Kind == "Pod":
		return s.podExec(c)
	case c.sub == "portforward" && c.res.Kind == "Pod":
		return s.podPortForward(c)
	case c.sub == "attach" && c.res.Kind == "Pod":
		return s.noProcess(c)
	case c.sub == "status" && c.res.status, c.sub == "":
	default:
		return unknownPath(c.Method)
	}
	if c.name == "" {
		switch c.Method {
		case http.MethodGet:
			if watching(c.URL.Query()) {
				return s.watch(c)
			}
			return s.list(c)
		case http.MethodPost:
			return s.create(c)
		case http.MethodDelete:
			return s.deleteCollection(c)
		}
		return notAllowed(c)
	}
	switch c.Method {
	case http.MethodGet:
		if watching(c.URL.Query()) {
			return s.watch(c)
		}
		return s.get(c)
	case http.MethodPut:
		return s.update(c)
	case http.MethodPatch:
		return s.patch(c)
	case http.MethodDelete:
		if c.sub == "" {
			return s.delete(c)
		}
	}
	return notAllowed(c)
}
