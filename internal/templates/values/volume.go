package values

import (
	"path"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/templates/manifest"
	"github.com/hyperpod-cli/hyperpod/internal/templates/setting"
)

// VolumeType says where a volume's content comes from.
type VolumeType string

// The volume types.
const (
	HostPath VolumeType = "hostPath"
	PVC      VolumeType = "pvc"
	EmptyDir VolumeType = "emptyDir"
)

// Volume is a volume of every pod of a job and where it is mounted. A volume or
// mount path that the manifest already has is replaced.
type Volume struct {
	Name      string
	Type      VolumeType
	MountPath string
	ReadOnly  bool
	// Path is the node's directory (HostPath), Claim the claim's name (PVC).
	Path, Claim string
	// Memory makes an EmptyDir live in memory; Size limits it.
	Memory bool
	Size   string
	// Create makes the node's directory where there is none (HostPath).
	Create bool
}

const (
	volumeForm = "name:/host/path:/mount/path[:ro]"
	pairsForm  = "name=N,type=hostPath|pvc|fsx|efs|emptyDir,mount_path=/M,path=/P|claim_name=C[,read_only=true][,size=16Gi][,medium=memory]"
	pvcForm    = "claim:/mount/path[:ro]"
)

// ParseVolume reads the value of --volumes in either form:
// name:/host/path:/mount/path[:ro], or name=...,type=...,mount_path=... pairs.
func ParseVolume(text string) (Volume, error) {
	if strings.Contains(text, "=") {
		return volumeFromPairs(text)
	}
	p := strings.Split(text, ":")
	readOnly, ok := accessMode(p, 3)
	if !ok {
		return Volume{}, volumeError(setting.Volumes, text, "wrong number of parts")
	}
	v := Volume{Name: p[0], Type: HostPath, Path: p[1], MountPath: p[2], ReadOnly: readOnly}
	return v, v.check(setting.Volumes, text)
}

// ParsePVC reads the value of --persistent-volume-claims: claim:/mount/path[:ro].
func ParsePVC(text string) (Volume, error) {
	p := strings.Split(text, ":")
	readOnly, ok := accessMode(p, 2)
	if !ok {
		return Volume{}, volumeError(setting.Claims, text, "wrong number of parts")
	}
	v := Volume{Type: PVC, Claim: p[0], MountPath: p[1], ReadOnly: readOnly}
	return v, v.check(setting.Claims, text)
}

// accessMode reads the optional last part.
func accessMode(parts []string, required int) (readOnly, ok bool) {
	if len(parts) == required+1 {
		switch parts[required] {
		case "ro":
			return true, true
		case "rw":
			return false, true
		}
		return false, false
	}
	return false, len(parts) == required
}

func volumeFromPairs(text string) (Volume, error) {
	var v Volume
	for _, pair := range strings.Split(text, ",") {
		key, value, found := strings.Cut(strings.TrimSpace(pair), "=")
		if !found {
			return v, volumeError(setting.Volumes, text, manifest.QuoteText(pair)+" must be KEY=VALUE")
		}
		switch strings.ReplaceAll(key, "-", "_") {
		case "name":
			v.Name = value
		case "type":
			switch strings.ToLower(value) {
			case "hostpath":
				v.Type = HostPath
			case "pvc", "persistentvolumeclaim", "fsx", "efs": // file systems come as claims
				v.Type = PVC
			case "emptydir":
				v.Type = EmptyDir
			default:
				return v, volumeError(setting.Volumes, text, "type "+manifest.QuoteText(value)+" must be hostPath, pvc, fsx, efs or emptyDir")
			}
		case "mount_path":
			v.MountPath = value
		case "path":
			v.Path = value
		case "claim_name":
			v.Claim = value
		case "size":
			v.Size = value
		case "medium":
			if !strings.EqualFold(value, "memory") {
				return v, volumeError(setting.Volumes, text, "medium must be memory")
			}
			v.Memory = true
		case "read_only":
			b, err := strconv.ParseBool(value)
			if err != nil {
				return v, volumeError(setting.Volumes, text, "read_only must be true or false")
			}
			v.ReadOnly = b
		default:
			near := errs.Near(key, []string{"name", "type", "mount_path", "path", "claim_name", "read_only", "size", "medium"})
			return v, volumeError(setting.Volumes, text, "key "+manifest.QuoteText(key)+" not found"+manifest.DidYouMean(near))
		}
	}
	return v, v.check(setting.Volumes, text)
}

func volumeError(of setting.Setting, text, why string) error {
	e := of.Invalid(text, "%s", why)
	if of == setting.Volumes {
		return e.Suggest(of.Option(volumeForm), of.Option(pairsForm))
	}
	return e.Suggest(of.Option(pvcForm))
}

// check validates a volume however it was made; text is what was given.
func (v Volume) check(of setting.Setting, text string) error {
	bad := func(why string) error { return volumeError(of, text, why) }
	if v.Type != PVC || v.Name != "" {
		if len(validation.IsDNS1123Label(v.Name)) > 0 {
			return bad("the name " + manifest.QuoteText(v.Name) + " must be at most 63 lower-case letters, digits and -")
		}
	}
	if !path.IsAbs(v.MountPath) || strings.Contains(v.MountPath, ":") {
		return bad("the mount path " + manifest.QuoteText(v.MountPath) + " must be absolute")
	}
	switch v.Type {
	case HostPath:
		if !path.IsAbs(v.Path) || strings.Contains("/"+v.Path+"/", "/../") {
			return bad("the host path " + manifest.QuoteText(v.Path) + " must be absolute")
		}
	case PVC:
		if len(validation.IsDNS1123Subdomain(v.Claim)) > 0 {
			return bad("the claim name " + manifest.QuoteText(v.Claim) + " must be lower-case letters, digits, - and .")
		}
	case EmptyDir:
	default:
		return bad("type is required: hostPath, pvc or emptyDir")
	}
	if v.Type != HostPath && v.Path != "" || v.Type != PVC && v.Claim != "" || v.Type != EmptyDir && (v.Memory || v.Size != "") {
		return bad("a key does not apply to the type " + string(v.Type))
	}
	if v.Size != "" {
		if _, err := resource.ParseQuantity(v.Size); err != nil {
			return bad("the size " + manifest.QuoteText(v.Size) + " must be a quantity such as 16Gi")
		}
	}
	return nil
}

// VolumeName returns the name of the volume in the pod. For a claim it is derived from the name of the claim.
func (v Volume) VolumeName() string {
	if v.Name != "" {
		return v.Name
	}
	name := strings.ReplaceAll(v.Claim, ".", "-")
	if len(name) > 56 { // "-volume" has to fit into 63
		name = strings.TrimRight(name[:56], "-")
	}
	return name + "-volume"
}
