package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/mergepatch"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"sigs.k8s.io/yaml"

	"github.com/hyperpod-cli/hyperpod/internal/sandbox/object"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/store"
)

// maxPatchOperations is the largest number of operations in a JSON patch, as on an API
// server.
const maxPatchOperations = 10_000

// The copies of a JSON patch can take as much memory as a request body, as on an API
// server. The library keeps the limit in a variable.
func init() { jsonpatch.AccumulatedCopySizeLimit = maxBody }

func (s *Server) patch(c *call) error {
	media, _, _ := mime.ParseMediaType(c.Header.Get("Content-Type"))
	body, err := c.readBody()
	if err != nil {
		return err
	}
	kind := types.PatchType(media)
	switch kind {
	case types.JSONPatchType, types.MergePatchType:
	case types.StrategicMergePatchType:
		if c.res.builtin == nil {
			return unsupportedMedia(string(types.JSONPatchType), string(types.MergePatchType), string(types.ApplyYAMLPatchType))
		}
	case types.ApplyYAMLPatchType:
		return s.apply(c, body)
	default:
		return unsupportedMedia(string(types.JSONPatchType), string(types.MergePatchType), string(types.StrategicMergePatchType), string(types.ApplyYAMLPatchType))
	}
	return s.save(c, http.StatusOK, func(st *store.Store) (*store.Object, error) {
		old := st.Get(c.res.FullName(), c.namespace, c.name)
		if old == nil {
			return nil, notFound(c)
		}
		m, err := patched(c.res, kind, old.Raw, body)
		if err != nil {
			return nil, err
		}
		return s.finishPatch(c, st, old, m)
	})
}

// finishPatch validates and stores the result of a patch.
func (s *Server) finishPatch(c *call, st *store.Store, old *store.Object, m map[string]any) (*store.Object, error) {
	if err := c.identify(m); err != nil {
		return nil, err
	}
	if name := object.Text(m, "metadata", "name"); name != c.name {
		return nil, badRequest("the name of the object (" + name + ") does not match the name on the URL (" + c.name + ")")
	}
	warnings, err := s.checkTypes(c, m)
	if err != nil {
		return nil, err
	}
	warn(c.w, warnings)
	return s.replace(c, st, old, m)
}

// patched applies a patch to an object in JSON and returns the result decoded.
func patched(r *resource, kind types.PatchType, old, patch []byte) (map[string]any, error) {
	var out []byte
	var err error
	switch kind {
	case types.JSONPatchType:
		var p jsonpatch.Patch
		if p, err = jsonpatch.DecodePatch(patch); err != nil {
			return nil, badRequest(err.Error())
		}
		if len(p) > maxPatchOperations {
			return nil, apierrors.NewRequestEntityTooLargeError(fmt.Sprintf("The allowed maximum operations in a JSON patch is %d, got %d", maxPatchOperations, len(p)))
		}
		if out, err = p.Apply(old); err != nil {
			return nil, apierrors.NewGenericServerResponse(http.StatusUnprocessableEntity, "", r.groupResource(), "", err.Error(), 0, false)
		}
	case types.MergePatchType:
		if !isObject(patch) {
			return nil, badRequest("a merge patch must be an object")
		}
		if out, err = jsonpatch.MergePatch(old, patch); err != nil {
			return nil, badRequest(err.Error())
		}
	default:
		if !isObject(patch) {
			return nil, badRequest("a strategic merge patch must be an object")
		}
		if out, err = strategicpatch.StrategicMergePatch(old, patch, r.builtin()); err != nil {
			if errors.Is(err, mergepatch.ErrBadJSONDoc) || mergepatch.IsPreconditionFailed(err) {
				return nil, badRequest(err.Error())
			}
			return nil, apierrors.NewGenericServerResponse(http.StatusUnprocessableEntity, "", r.groupResource(), "", err.Error(), 0, false)
		}
	}
	return decodeObject(out)
}

func isObject(b []byte) bool {
	var m map[string]json.RawMessage
	return json.Unmarshal(b, &m) == nil && m != nil
}

// apply is a reduced server-side apply: it creates the object, or merges the given
// fields into it. The sandbox has no managed fields, so a field from an earlier apply
// stays if this one leaves it out, and nothing conflicts.
func (s *Server) apply(c *call, body []byte) error {
	if c.URL.Query().Get("fieldManager") == "" {
		return badRequest("PatchOptions.meta.k8s.io \"\" is invalid: fieldManager: Required value: is required for apply patch")
	}
	asJSON, err := yaml.YAMLToJSON(body)
	if err != nil {
		return badRequest("error decoding YAML: " + err.Error())
	}
	given, err := decodeObject(asJSON)
	if err != nil {
		return err
	}
	if err := c.identify(given); err != nil {
		return err
	}
	meta := object.Child(given, "metadata")
	if meta["name"] == nil {
		meta["name"] = c.name
	}
	if object.Text(given, "metadata", "name") != c.name {
		return badRequest("the name of the object (" + object.Text(given, "metadata", "name") + ") does not match the name on the URL (" + c.name + ")")
	}
	code := http.StatusOK
	return s.save(c, code, func(st *store.Store) (*store.Object, error) {
		old := st.Get(c.res.FullName(), c.namespace, c.name)
		if old == nil {
			if c.sub != "" {
				return nil, notFound(c)
			}
			r := c.wanted()
			if r.Verb = "create"; !c.user.Administrator() {
				if err := allowed(st, c.user, r); err != nil {
					return nil, err
				}
			}
			warnings, err := s.checkTypes(c, given)
			if err != nil {
				return nil, err
			}
			warn(c.w, warnings)
			return s.insert(c, st, store.CopyMap(given))
		}
		patch, err := store.Encode(given)
		if err != nil {
			return nil, err
		}
		kind := types.MergePatchType
		if c.res.builtin != nil {
			kind = types.StrategicMergePatchType
		}
		m, err := patched(c.res, kind, old.Raw, patch)
		if err != nil {
			return nil, err
		}
		return s.finishPatch(c, st, old, m)
	})
}
