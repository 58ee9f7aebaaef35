package api

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hyperpod-cli/hyperpod/internal/sandbox/store"
)

func notAllowed(c *call) error {
	return apierrors.NewMethodNotSupported(c.res.groupResource(), c.Method)
}

func notFound(c *call) error { return apierrors.NewNotFound(c.res.groupResource(), c.name) }

func (s *Server) get(c *call) error {
	f, err := c.format()
	if err != nil {
		return err
	}
	var o *store.Object
	err = s.backend.View(c.Context(), func(st *store.Store) error {
		if o = st.Get(c.res.FullName(), c.namespace, c.name); o == nil {
			return notFound(c)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return s.writeObject(c, f, http.StatusOK, o)
}

// listMeta is the metadata of a list, in the field order of the API server.
type listMeta struct {
	ResourceVersion    string `json:"resourceVersion"`
	Continue           string `json:"continue,omitempty"`
	RemainingItemCount *int64 `json:"remainingItemCount,omitempty"`
}

// position is the content of a continue token: the resource version of the first page
// and the last key sent. Later pages show the state at the time of their request.
type position struct {
	RV        int64  `json:"rv"`
	Namespace string `json:"ns,omitempty"`
	Name      string `json:"name"`
}

func (p position) encode() string {
	b, _ := json.Marshal(p) // a struct of plain fields cannot fail
	return base64.RawURLEncoding.EncodeToString(b)
}

func decodePosition(token string) (position, error) {
	var p position
	b, err := base64.RawURLEncoding.DecodeString(token)
	if err == nil {
		err = json.Unmarshal(b, &p)
	}
	if err != nil || p.Name == "" {
		return p, badRequest("continue key is not valid: " + token)
	}
	return p, nil
}

// page is one page of a list before rendering.
type page struct {
	meta    listMeta
	objects []*store.Object
}

func (s *Server) list(c *call) error {
	f, err := c.format()
	if err != nil {
		return err
	}
	sel, err := selectorOf(c, c.URL.Query())
	if err != nil {
		return err
	}
	var p page
	err = s.backend.View(c.Context(), func(st *store.Store) error {
		p, err = readPage(st, c, sel, c.URL.Query())
		return err
	})
	if err != nil {
		return err
	}
	return s.writeList(c, f, p)
}

func readPage(st *store.Store, c *call, sel selector, q url.Values) (page, error) {
	limit, err := atoi("limit", q.Get("limit"))
	if err != nil {
		return page{}, err
	}
	rv := st.RV()
	var after *store.Key
	if token := q.Get("continue"); token != "" {
		pos, err := decodePosition(token)
		if err != nil {
			return page{}, err
		}
		if pos.RV < st.Oldest() {
			return page{}, apierrors.NewResourceExpired("The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter.")
		}
		rv, after = pos.RV, &store.Key{Namespace: pos.Namespace, Name: pos.Name}
	} else if want := q.Get("resourceVersion"); want != "" && want != "0" {
		n, err := strconv.ParseInt(want, 10, 64)
		if err != nil {
			return page{}, badRequest("resourceVersion: Invalid value: " + strconv.Quote(want))
		}
		if n > rv {
			return page{}, tooLarge(n, rv)
		}
		if q.Get("resourceVersionMatch") == string(metav1.ResourceVersionMatchExact) && n != rv {
			return page{}, expired(n, rv)
		}
	}
	p := page{meta: listMeta{ResourceVersion: strconv.FormatInt(rv, 10)}, objects: []*store.Object{}}
	for _, o := range st.List(c.res.FullName(), c.namespace) {
		if after != nil && store.Compare(o.Key, *after) <= 0 || !sel.matches(o) {
			continue
		}
		p.objects = append(p.objects, o)
	}
	if limit > 0 && int64(len(p.objects)) > limit {
		rest := int64(len(p.objects)) - limit
		p.objects = p.objects[:limit]
		last := p.objects[limit-1]
		p.meta.Continue = position{rv, last.Namespace, last.Name}.encode()
		p.meta.RemainingItemCount = &rest
	}
	return p, nil
}

func tooLarge(want, have int64) error {
	err := apierrors.NewTimeoutError("Too large resource version: "+strconv.FormatInt(want, 10)+", current: "+strconv.FormatInt(have, 10), 1)
	err.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: metav1.CauseTypeResourceVersionTooLarge, Message: "Too large resource version"}}
	return err
}
