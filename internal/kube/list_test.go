package kube

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
)

func listItems(c *Client) (Page[item], error) {
	return List[item](bg, c, kinds.ConfigMap, "ns", ListOptions{})
}

func TestListIsOneUnpagedGzippedRequest(t *testing.T) {
	c, _ := serve(t, inTurn(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.String() != "/api/v1/namespaces/ns/configmaps?fieldSelector=f%3D1&labelSelector=l" || r.Header.Get("Accept") != "application/json" {
			t.Errorf("got %s, Accept %s", r.URL, r.Header.Get("Accept"))
		}
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		defer z.Close()
		fmt.Fprint(z, listOf("42", object("a", "1", "1", 1), object("b", "2", "2", 2)))
	}))
	p, err := List[item](bg, c, kinds.ConfigMap, "ns", ListOptions{LabelSelector: "l", FieldSelector: "f=1"})
	if err != nil || names(p.Items) != "a b" || p.ResourceVersion != "42" || p.Items[1].Value != 2 {
		t.Errorf("got %+v, %v", p, err)
	}
	mustHaveSent(t, c, 1)
}

func TestListDisableCompression(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if e := r.Header.Get("Accept-Encoding"); e != "identity" {
			t.Errorf("Accept-Encoding %q", e)
		}
		fmt.Fprint(w, listOf("1"))
	}))
	defer srv.Close()
	c, _ := connect(t, &rest.Config{Host: srv.URL, DisableCompression: true})
	if p, err := listItems(c); err != nil || len(p.Items) != 0 {
		t.Errorf("got %+v, %v", p, err)
	}
}

func TestListMetadataOnly(t *testing.T) {
	c, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.Header.Get("Accept"), "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1") {
			t.Errorf("Accept %q", r.Header.Get("Accept"))
		}
		fmt.Fprint(w, listOf("1", object("a", "1", "1", 0)))
	})
	if p, err := List[item](bg, c, kinds.ConfigMap, "", ListOptions{MetadataOnly: true}); err != nil || names(p.Items) != "a" {
		t.Errorf("got %+v, %v", p, err)
	}
}

// page expects a limit and a continue token, and sends a page.
func page(t *testing.T, token, next string, objects ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if q := r.URL.Query(); q.Get("limit") != "500" || q.Get("continue") != token {
			t.Errorf("query %v, want continue %q", q, token)
		}
		fmt.Fprintf(w, `{"items":[%s],"metadata":{"resourceVersion":"9","continue":%q},"kind":"ConfigMapList"}`, strings.Join(objects, ","), next)
	}
}

func TestListInPages(t *testing.T) {
	a, b, d := object("a", "1", "1", 1), object("b", "2", "2", 2), object("d", "3", "3", 3)
	tooLarge := refuse(413, "RequestEntityTooLarge", "limit your request")
	whole := func(w http.ResponseWriter, r *http.Request) {
		if r.URL.RawQuery != "" {
			t.Errorf("query %q in an unpaged list", r.URL.RawQuery)
		}
		fmt.Fprint(w, listOf("10", a, b, d))
	}
	tests := []struct {
		name  string
		turns []http.HandlerFunc
		want  string
		code  errs.Exit
	}{
		{"three pages", []http.HandlerFunc{tooLarge, page(t, "", "t1", a), page(t, "t1", "t2", b), page(t, "t2", "", d)}, "a b d", errs.OK},
		{"a page cut", []http.HandlerFunc{tooLarge, page(t, "", "t1", a), cutAfter(`{"items":[` + b), page(t, "t1", "", b)}, "a b", errs.OK},
		{"410 on a continue starts over, unpaged", []http.HandlerFunc{tooLarge, page(t, "", "t1", a), refuse(410, "Expired", "x"), whole}, "a b d", errs.OK},
		{"only once", []http.HandlerFunc{tooLarge, page(t, "", "t1", a), refuse(410, "Expired", "x"), refuse(410, "Expired", "x")}, "", errs.Failure},
		{"a page that fails is an error, not a short list", []http.HandlerFunc{tooLarge, page(t, "", "t1", a), refuse(403, "Forbidden", "u cannot list")}, "", errs.Denied},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, _ := serve(t, inTurn(t, tt.turns...))
			p, err := listItems(c)
			if names(p.Items) != tt.want || errs.ExitOf(err) != tt.code {
				t.Errorf("got %q, %v", names(p.Items), err)
			}
			mustHaveSent(t, c, len(tt.turns))
		})
	}
}

// A list that breaks off is read again, and never comes out short or double.
func TestListTruncated(t *testing.T) {
	full := listOf("1", object("a", "1", "1", 1), object("b", "2", "2", 2))
	c, n := serve(t, inTurn(t, cutAfter(full[:len(full)-20]), answer(full[:len(full)-20]), answer(full)))
	p, err := listItems(c)
	if err != nil || names(p.Items) != "a b" || n.String() != "[250ms 500ms]" {
		t.Errorf("got %q, %v, waits %s", names(p.Items), err, n)
	}
	c, _ = serve(t, answer(full[:len(full)-20]))
	p, err = listItems(c)
	mustSay(t, err, errs.Failure, "cannot list configmaps in namespace ns: the answer is incomplete")
	if len(p.Items) != 0 || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("got %d items, %v", len(p.Items), err)
	}
	mustHaveSent(t, c, 1+bodyRetries)
}

func TestListWrongChecksum(t *testing.T) {
	c, _ := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		var b strings.Builder
		z := gzip.NewWriter(&b)
		fmt.Fprint(z, listOf("1", object("a", "1", "1", 1)))
		z.Close()
		text := []byte(b.String())
		text[len(text)-8] ^= 1
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write(text)
	})
	if p, err := listItems(c); err == nil {
		t.Errorf("got %+v", p)
	}
}

func TestListUntyped(t *testing.T) {
	c, _ := serve(t, answer(`{"kind":"PodList","items":[{"metadata":{"name":"a","generation":3}},{"apiVersion":"x/v1","kind":"X","metadata":{"name":"b"}}]}`))
	p, err := List[map[string]any](bg, c, kinds.Pod, "ns", ListOptions{})
	if err != nil || p.Items[0]["kind"] != "Pod" || p.Items[0]["apiVersion"] != "v1" || p.Items[1]["kind"] != "X" {
		t.Fatalf("got %v, %v", p.Items, err)
	}
	if n := p.Items[0]["metadata"].(map[string]any)["generation"]; n != int64(3) {
		t.Errorf("got %T", n)
	}
	raw, err := List[json.RawMessage](bg, c, kinds.Pod, "ns", ListOptions{})
	if err != nil || string(raw.Items[1]) != `{"apiVersion":"x/v1","kind":"X","metadata":{"name":"b"}}` {
		t.Errorf("got %s, %v", raw.Items, err)
	}
}
