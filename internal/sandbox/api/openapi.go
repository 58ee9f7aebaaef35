package api

import (
	"net/http"
	"strings"

	openapiv2 "github.com/google/gnostic-models/openapiv2"
	"google.golang.org/protobuf/proto"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/hyperpod-cli/hyperpod/internal/sandbox/store"
)

// openAPI serves minimal documents: which kinds can be patched with which parameters, so
// that clients let the server validate fields. The schemas name no fields, because the
// server validates objects when it stores them. Only those of kinds without a Go type accept
// any field, as the server does.
func (s *Server) openAPI(w http.ResponseWriter, r *http.Request, rest []string) error {
	switch {
	case len(rest) == 1 && rest[0] == "v2":
		return s.openAPIv2(w, r)
	case len(rest) == 1 && rest[0] == "v3":
		paths := map[string]any{}
		for _, gv := range s.versions() {
			paths[root(gv)] = map[string]any{"serverRelativeURL": "/openapi/v3/" + root(gv)}
		}
		writeJSON(w, http.StatusOK, map[string]any{"paths": paths})
		return nil
	case len(rest) > 1 && rest[0] == "v3":
		for _, gv := range s.versions() {
			if root(gv) == strings.Join(rest[1:], "/") {
				writeJSON(w, http.StatusOK, s.openAPIv3(gv))
				return nil
			}
		}
	}
	return unknownPath(r.Method)
}

func root(gv schema.GroupVersion) string {
	if gv.Group == "" {
		return "api/" + gv.Version
	}
	return "apis/" + gv.String()
}

func gvk(r *resource) map[string]string {
	return map[string]string{"group": r.Group, "version": r.Version, "kind": r.Kind}
}

// itemPath returns the path of one object of a kind.
func itemPath(r *resource) string {
	ns := ""
	if r.Namespaced {
		ns = "{namespace}"
	}
	return r.Path(ns, "{name}")
}

var queryParameters = []string{"dryRun", "fieldManager", "fieldValidation", "force"}

func (s *Server) openAPIv3(gv schema.GroupVersion) map[string]any {
	paths, schemas := map[string]any{}, map[string]any{}
	for _, r := range s.resources {
		if r.Group != gv.Group || r.Version != gv.Version || r.virtual {
			continue
		}
		var params []any
		for _, p := range queryParameters {
			params = append(params, map[string]any{"name": p, "in": "query", "schema": map[string]any{"type": "string", "uniqueItems": true}})
		}
		content := map[string]any{}
		for _, media := range []string{"application/json-patch+json", "application/merge-patch+json", "application/apply-patch+yaml"} {
			content[media] = map[string]any{"schema": map[string]any{"type": "object"}}
		}
		paths[itemPath(r)] = map[string]any{"patch": map[string]any{
			"operationId": "patch" + r.Kind, "x-kubernetes-action": "patch", "x-kubernetes-group-version-kind": gvk(r),
			"parameters": params, "requestBody": map[string]any{"content": content, "required": true},
			"responses": map[string]any{"200": map[string]any{"description": "OK"}},
		}}
		schemas[schemaName(r)] = map[string]any{"type": "object", "x-kubernetes-group-version-kind": []any{gvk(r)},
			"x-kubernetes-preserve-unknown-fields": r.builtin == nil && r.schema == nil}
	}
	return map[string]any{"openapi": "3.0.0", "info": map[string]any{"title": "Kubernetes", "version": gitVersion},
		"paths": paths, "components": map[string]any{"schemas": schemas}}
}

func schemaName(r *resource) string {
	group := "io.k8s.api.core"
	if r.Group != "" {
		group = r.Group
	}
	return group + "." + r.Version + "." + r.Kind
}

// openAPIv2 serves clients without support for version 3, which ask for protobuf.
func (s *Server) openAPIv2(w http.ResponseWriter, r *http.Request) error {
	paths, definitions := map[string]any{}, map[string]any{}
	for _, res := range s.resources {
		if res.virtual {
			continue
		}
		var params []any
		for _, p := range queryParameters {
			params = append(params, map[string]any{"name": p, "in": "query", "type": "string", "uniqueItems": true})
		}
		paths[itemPath(res)] = map[string]any{"patch": map[string]any{
			"consumes":    []any{"application/json-patch+json", "application/merge-patch+json"},
			"operationId": "patch" + res.Group + res.Kind, "x-kubernetes-group-version-kind": gvk(res),
			"parameters": params, "responses": map[string]any{"200": map[string]any{"description": "OK"}},
		}}
		definitions[schemaName(res)] = map[string]any{"type": "object", "x-kubernetes-group-version-kind": []any{gvk(res)}}
	}
	body, err := store.Encode(map[string]any{"swagger": "2.0", "info": map[string]any{"title": "Kubernetes", "version": gitVersion},
		"paths": paths, "definitions": definitions})
	if err != nil {
		return err
	}
	kind := "application/json"
	if strings.Contains(r.Header.Get("Accept"), "proto-openapi.spec.v2") {
		doc, err := openapiv2.ParseDocument(body)
		if err != nil {
			return err
		}
		if body, err = proto.Marshal(doc); err != nil {
			return err
		}
		kind = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"
	}
	w.Header().Set("Content-Type", kind)
	_, _ = w.Write(body)
	return nil
}
