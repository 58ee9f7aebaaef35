package kube

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"strconv"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/bounded"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube/slim"
)

// ListOptions narrow a list.
type ListOptions struct {
	LabelSelector string
	FieldSelector string
	// MetadataOnly asks for the objects' metadata without spec and status.
	MetadataOnly bool
}

// Selecting returns the options for a selector in the form of the table of kinds: of labels, or "metadata.name=NAME" for
// one object.
func Selecting(selector string) ListOptions {
	if strings.HasPrefix(selector, nameSelector) {
		return ListOptions{FieldSelector: selector}
	}
	return ListOptions{LabelSelector: selector}
}

const nameSelector = "metadata.name="

// Page is a whole list; the pages of the server are joined.
type Page[T any] struct {
	Items           []T
	ResourceVersion string
}

// pageSize is used only when a server refuses a whole list.
const pageSize = 500

// The media types of MetadataOnly, for a list and for a watch.
const (
	metadataList = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"
	metadataOnly = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"
)

// List reads all objects of a kind: of one namespace, or of all of them with "".
// It is one unpaged request, because the server answers that from its cache;
// it requests pages only when the server reports that the list is too large.
func List[T any](ctx context.Context, c *Client, r kinds.Resource, namespace string, o ListOptions) (Page[T], error) {
	return Collect(ctx, c, r, namespace, o, func(t *T) T { return *t })
}

// Collect lists objects of one type and converts each into another type, so that only one object of the first type is in
// memory at a time.
func Collect[W, T any](ctx context.Context, c *Client, r kinds.Resource, namespace string, o ListOptions, convert func(*W) T) (Page[T], error) {
	l := lister[W, T]{c: c, r: r, namespace: namespace, o: o, convert: convert, bytes: bounded.List, at: map[identity]int{}}
	l.where, l.named = identifierOf(reflect.TypeFor[W]())
	l.mixed = l.named && l.where.namespace == nil && r.Namespaced && namespace == ""
	token, err := l.page(ctx, 0, "")
	if tooLarge(err) {
		l.keep(0)
		token, err = l.page(ctx, pageSize, "")
	}
	// A server may split a list without being asked.
	for restarted := false; err == nil && token != ""; l.pages++ {
		before := token
		token, err = l.page(ctx, pageSize, token)
		switch {
		case err == nil && (token == before || l.pages > bounded.Pages):
			err = l.c.explain(ctx, l.call(nil), &bodyError{errors.New("the pages of the list do not end")})
		case isExpired(err) && !restarted:
			restarted = true
			l.keep(0)
			token, err = l.page(ctx, 0, "")
		}
	}
	return l.done(err)
}

// tooLarge reports an answer that pages may help against. A gateway that times
// out has most often waited for the whole list.
func tooLarge(err error) bool {
	se, ok := status(err)
	return ok && (se.Code == http.StatusRequestEntityTooLarge || se.Reason == "RequestEntityTooLarge" || se.Code == http.StatusGatewayTimeout)
}

// lister is one list under way.
type lister[W, T any] struct {
	c         *Client
	r         kinds.Resource
	namespace string
	o         ListOptions
	convert   func(*W) T
	out       Page[T]
	pages     int   // read so far
	bytes     int64 // left for the pages to come
	where     identifier
	named     bool             // W has a name, and where says where
	mixed     bool             // W has no namespace, and the items are from several: equal names tell nothing
	at        map[identity]int // of the items
}

// add takes in an item. One that the list has already, as on two pages, takes the place of the first.
func (l *lister[W, T]) add(w *W) error {
	var id identity
	untyped, ok := any(w).(*map[string]any)
	switch {
	case ok:
		l.name(*untyped)
		id = identityOf(*untyped)
	case l.named:
		id = l.where.of(reflect.ValueOf(w).Elem())
	default:
		l.out.Items = append(l.out.Items, l.convert(w))
		return nil
	}
	if id.name == "" {
		return errNameless
	}
	if i, twice := l.at[id]; twice && !l.mixed {
		l.out.Items[i] = l.convert(w)
		return nil
	}
	l.at[id] = len(l.out.Items)
	l.out.Items = append(l.out.Items, l.convert(w))
	return nil
}

func (l *lister[W, T]) done(err error) (Page[T], error) {
	if err != nil {
		return Page[T]{}, err
	}
	return l.out, nil
}

// page reads one page, or everything with limit 0, and returns where the next
// one begins ("" at the end).
func (l *lister[W, T]) page(ctx context.Context, limit int, token string) (string, error) {
	q := url.Values{}
	for key, v := range map[string]string{"labelSelector": l.o.LabelSelector, "fieldSelector": l.o.FieldSelector, "continue": token} {
		if v != "" {
			q.Set(key, v)
		}
	}
	if limit > 0 {
		q.Set("limit", strconv.Itoa(limit))
	}
	k := l.call(q)
	if l.o.MetadataOnly {
		k.accept = metadataList
	}
	var meta slim.Meta
	had := len(l.out.Items)
	var size int64
	err := l.c.read(ctx, k, func(body io.Reader) (err error) {
		l.keep(had)
		var wrong error
		limited := &limitedList{r: bounded.NewReader(body, l.bytes)}
		defer func() { size = limited.size }()
		meta, err = slim.List(limited, func(w *W) {
			if limited.full = len(l.out.Items) >= bounded.Items; limited.full || wrong != nil {
				return
			}
			wrong = l.add(w)
		})
		return cmp.Or(err, wrong)
	})
	l.bytes -= size
	l.out.ResourceVersion = meta.ResourceVersion
	return meta.Continue, err
}

// keep removes all items but the first n.
func (l *lister[W, T]) keep(n int) {
	if n == len(l.out.Items) {
		return
	}
	l.out.Items = l.out.Items[:n]
	for id, i := range l.at {
		if i >= n {
			delete(l.at, id)
		}
	}
}

// limitedList is a list that has no more items than fit.
type limitedList struct {
	r    io.Reader
	size int64
	full bool
}

func (l *limitedList) Read(p []byte) (int, error) {
	if l.full {
		return 0, fmt.Errorf("the list has more than %d objects", bounded.Items)
	}
	n, err := l.r.Read(p)
	l.size += int64(n)
	return n, err
}

func (l *lister[W, T]) call(q url.Values) call {
	return call{method: http.MethodGet, path: l.r.Path(l.namespace, ""), query: q, safe: true,
		verb: "list", res: l.r, namespace: l.namespace}
}

// name puts the kind into an untyped item: items of lists need not have it.
func (l *lister[W, T]) name(item map[string]any) {
	if item != nil && item["kind"] == nil {
		item["apiVersion"], item["kind"] = l.r.GroupVersion(), l.r.Kind
	}
}
