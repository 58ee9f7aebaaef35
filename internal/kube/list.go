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
	into := &items[W, T]{convert: convert, seen: seenOf(reflect.TypeFor[W](), r, namespace)}
	version, err := (&lister{c: c, r: r, namespace: namespace, o: o, into: into, bytes: bounded.List}).all(ctx)
	if err != nil {
		return Page[T]{}, err
	}
	return Page[T]{Items: into.list, ResourceVersion: version}, nil
}

// items are the objects that a list has brought so far.
type items[W, T any] struct {
	convert func(*W) T
	list    []T
	seen    seen
}

// read takes in the objects of a page.
func (i *items[W, T]) read(from *limitedList) (slim.Meta, error) {
	var wrong error
	meta, err := slim.List(from, func(w *W) {
		if from.full = len(i.list) >= bounded.Items; from.full || wrong != nil {
			return
		}
		at, err := i.seen.place(w, len(i.list))
		switch {
		case err != nil:
			wrong = err
		case at < len(i.list):
			i.list[at] = i.convert(w)
		default:
			i.list = append(i.list, i.convert(w))
		}
	})
	return meta, cmp.Or(err, wrong)
}

func (i *items[W, T]) len() int { return len(i.list) }

// keep removes all objects but the first n.
func (i *items[W, T]) keep(n int) {
	if n < len(i.list) {
		i.list = i.list[:n]
		i.seen.keep(n)
	}
}

// lister is one list under way. It does not know the type of the objects, so that its code exists once.
type lister struct {
	c         *Client
	r         kinds.Resource
	namespace string
	o         ListOptions
	into      interface {
		read(from *limitedList) (slim.Meta, error)
		len() int
		keep(n int)
	}
	pages int   // read so far
	bytes int64 // left for the pages to come
}

// all reads the list and returns its resource version.
func (l *lister) all(ctx context.Context) (string, error) {
	meta, err := l.page(ctx, 0, "")
	if tooLarge(err) {
		l.into.keep(0)
		meta, err = l.page(ctx, pageSize, "")
	}
	// A server may split a list without being asked.
	for restarted := false; err == nil && meta.Continue != ""; l.pages++ {
		before := meta.Continue
		meta, err = l.page(ctx, pageSize, before)
		switch {
		case err == nil && (meta.Continue == before || l.pages > bounded.Pages):
			err = l.c.explain(ctx, l.call(nil), &bodyError{errors.New("the pages of the list do not end")})
		case isExpired(err) && !restarted:
			restarted = true
			l.into.keep(0)
			meta, err = l.page(ctx, 0, "")
		}
	}
	return meta.ResourceVersion, err
}

// tooLarge reports an answer that pages may help against. A gateway that times
// out has most often waited for the whole list.
func tooLarge(err error) bool {
	se, ok := status(err)
	return ok && (se.Code == http.StatusRequestEntityTooLarge || se.Reason == "RequestEntityTooLarge" || se.Code == http.StatusGatewayTimeout)
}

// page reads one page, or everything with limit 0.
func (l *lister) page(ctx context.Context, limit int, token string) (meta slim.Meta, err error) {
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
	had := l.into.len()
	var size int64
	err = l.c.read(ctx, k, func(body io.Reader) (err error) {
		l.into.keep(had)
		limited := &limitedList{r: bounded.NewReader(body, l.bytes)}
		defer func() { size = limited.size }()
		meta, err = l.into.read(limited)
		return err
	})
	l.bytes -= size
	return meta, err
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

func (l *lister) call(q url.Values) call {
	return call{method: http.MethodGet, path: l.r.Path(l.namespace, ""), query: q, safe: true,
		verb: "list", res: l.r, namespace: l.namespace}
}
