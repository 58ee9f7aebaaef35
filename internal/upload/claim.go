package upload

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path"

	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/tarball"
	"github.com/hyperpod-cli/hyperpod/internal/templates/jobobject"
)

// Limits of an upload to a claim. They stop the upload of a home folder.
const (
	MaxClaimBytes = 10 << 30
	MaxClaimFiles = 50_000
)

// claimFolder is the folder of a claim that holds uploads, each in a folder of its own.
const claimFolder = "hyperpod-code"

// Mounted is where the loader mounts the claim.
const Mounted = "/upload"

// LoaderHours is how long a loader runs at most, if nothing removes it.
const LoaderHours = 4

// Digest are the SHA-256 hashes of the files of a listing, by path.
type Digest struct {
	Sums map[string]string
	// Folder is where the files are in a claim: equal files have the same folder.
	Folder string
}

// Sum reads all files of a listing.
func Sum(root *os.Root, l Listing) (Digest, error) {
	d := Digest{Sums: map[string]string{}}
	all := sha256.New()
	for _, e := range l.Entries {
		sum, err := sumOf(root, e)
		if err != nil {
			return d, err
		}
		d.Sums[e.Path] = sum
		fmt.Fprintf(all, "%q %t %s\n", e.Path, e.Executable(), sum)
	}
	d.Folder = path.Join(claimFolder, hex.EncodeToString(all.Sum(nil))[:20])
	return d, nil
}

// sumOf returns the hash of a file as the copy sends it: a file that grows is sent with the size of the listing.
func sumOf(root *os.Root, e Entry) (string, error) {
	f, err := tarball.Open(root, e.Path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum := sha256.New()
	_, err = io.Copy(sum, io.LimitReader(f, e.Info.Size()))
	return hex.EncodeToString(sum.Sum(nil)), err
}

// Loader returns the job that receives the files for a claim: one small pod with the image,
// the user and the tolerations of the job that will use them, in the same queue. It has
// no priority of its own, so it does not preempt. Its pod meets the restricted Pod Security level
// if those of the job do.
func Loader(name string, job map[string]any, claim string) (map[string]any, error) {
	jobobject.Unfold([]map[string]any{job})
	defer func() { _ = jobobject.Fold([]map[string]any{job}) }()
	templates := jobobject.PodTemplates(job)
	if len(templates) == 0 {
		return nil, fmt.Errorf("the job has no pods")
	}
	like := jobobject.Child(templates[0].Template, "spec")
	containers := jobobject.MapsIn(like["containers"])
	if len(containers) == 0 {
		return nil, fmt.Errorf("the pods of the job have no containers")
	}
	amounts := map[string]any{"cpu": "100m", "memory": "128Mi"}
	container := map[string]any{
		"name": "loader", "image": containers[0]["image"],
		"command":      []any{"sh", "-c", loaderScript(Mounted)},
		"resources":    map[string]any{"requests": amounts, "limits": jobobject.CopyOf(amounts)},
		"volumeMounts": []any{map[string]any{"name": Volume, "mountPath": Mounted}},
	}
	if policy := containers[0]["imagePullPolicy"]; policy != nil {
		container["imagePullPolicy"] = policy
	}
	security := map[string]any{}
	for _, key := range []string{"runAsUser", "runAsGroup", "runAsNonRoot"} {
		if v := kinds.At(containers[0], "securityContext", key); v != nil {
			security[key] = v
		}
	}
	security["allowPrivilegeEscalation"] = false
	security["capabilities"] = map[string]any{"drop": []any{"ALL"}}
	container["securityContext"] = security
	pod := map[string]any{
		"restartPolicy": "Never", "automountServiceAccountToken": false, "terminationGracePeriodSeconds": int64(2), "containers": []any{container},
		"volumes": []any{map[string]any{"name": Volume, "persistentVolumeClaim": map[string]any{"claimName": claim}}},
	}
	for _, key := range []string{"serviceAccountName", "imagePullSecrets", "tolerations", "runtimeClassName"} {
		if v := like[key]; v != nil {
			pod[key] = jobobject.CopyOf(v)
		}
	}
	user := map[string]any{"seccompProfile": map[string]any{"type": "RuntimeDefault"}}
	for _, key := range []string{"runAsUser", "runAsGroup", "runAsNonRoot", "fsGroup", "fsGroupChangePolicy", "supplementalGroups"} {
		if v := kinds.At(like, "securityContext", key); v != nil {
			user[key] = jobobject.CopyOf(v)
		}
	}
	pod["securityContext"] = user
	meta := map[string]any{"name": name, "labels": map[string]any{}}
	if ns := kinds.Text(job, "metadata", "namespace"); ns != "" {
		meta["namespace"] = ns
	}
	spec := map[string]any{"backoffLimit": int64(0), "activeDeadlineSeconds": int64(LoaderHours * 3600), "ttlSecondsAfterFinished": int64(60), "template": map[string]any{"spec": pod}}
	if queue := kinds.Text(job, "metadata", "labels", kinds.QueueLabel); queue != "" {
		meta["labels"] = map[string]any{kinds.QueueLabel: queue}
	}
	return map[string]any{"apiVersion": kinds.BatchJob.GroupVersion(), "kind": kinds.BatchJob.Kind, "metadata": meta, "spec": spec}, nil
}

// loaderScript removes parts that earlier loaders could not remove because they were stopped, and
// then leaves the pod running for the copy. No loader runs as long as a part must be old.
func loaderScript(at string) string {
	return fmt.Sprintf("trap 'exit 0' TERM; find %s -mindepth 1 -maxdepth 1 -name '*.*' -mmin +%d -exec rm -rf {} + 2>/dev/null; sleep %d & wait",
		path.Join(at, claimFolder), LoaderHours*60, LoaderHours*3600)
}
