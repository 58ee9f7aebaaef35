package startjob

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path"
	"strings"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/cli/factory"
	"github.com/hyperpod-cli/hyperpod/internal/cli/podcopy"
	"github.com/hyperpod-cli/hyperpod/internal/cli/podflags"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/governance/check"
	"github.com/hyperpod-cli/hyperpod/internal/jobs/logs"
	"github.com/hyperpod-cli/hyperpod/internal/jobs/pick"
	"github.com/hyperpod-cli/hyperpod/internal/jobs/submit"
	"github.com/hyperpod-cli/hyperpod/internal/jobs/transfer"
	"github.com/hyperpod-cli/hyperpod/internal/kinds"
	"github.com/hyperpod-cli/hyperpod/internal/kube"
	"github.com/hyperpod-cli/hyperpod/internal/state"
	"github.com/hyperpod-cli/hyperpod/internal/tarball"
	"github.com/hyperpod-cli/hyperpod/internal/upload"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// claimed are the files of --upload for a folder of the claim of --upload-pvc.
type claimed struct {
	upload.Listing
	upload.Digest
}

// list lists the folder of --upload for a claim, and hashes its files.
func list(dir string) (*claimed, error) {
	root, err := openUpload(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	var c claimed
	if c.Listing, err = upload.List(root, upload.MaxClaimBytes, upload.MaxClaimFiles); err == nil {
		c.Digest, err = upload.Sum(root, c.Listing)
	}
	return &c, uploadError(dir, err, upload.MaxClaimBytes, upload.MaxClaimFiles)
}

// stopping is the time for the removal of the loader.
const stopping = 10 * time.Second

// mayFill examines what an upload to the claim needs, before anything is asked, said or created.
func (r *run) mayFill(ctx context.Context, j job) error {
	if !r.fills() {
		return nil
	}
	if _, err := r.rehearsal(ctx, j); err != nil {
		if e := new(errs.Error); !errors.As(err, &e) || !cannotRehearse(err, e) {
			return err // before anything is copied
		}
	}
	if err := r.examineClaim(ctx, j); err != nil {
		return err
	}
	return r.loaderError(r.checkLoader(ctx, nil, j))
}

// fills reports whether the run uploads to a claim.
func (r *run) fills() bool { return r.claimed != nil && r.options.DryRun == factory.DryRunNone }

// loaderError returns the error of the first step that failed.
func (r *run) loaderError(steps []check.Step) error {
	for _, s := range steps {
		if s.Status == check.StatusFailed {
			return stepError("cannot upload "+r.options.Upload+" to claim "+r.options.UploadPVC, s)
		}
	}
	return nil
}

// fillClaim copies the files of --upload into the claim, before the job is created. A small job receives them; it is
// removed afterwards, in any case. Equal files of an earlier upload are used again.
func (r *run) fillClaim(ctx context.Context, j job, end factory.Deadline) (err error) {
	if !r.fills() {
		return nil
	}
	if err := r.loaderError(r.judgeLoader(ctx, r.inputs(), j)); err != nil {
		return err
	}
	loader, err := r.loader(j, "-upload-"+strings.ToLower(rand.Text()[:5]))
	if err != nil {
		return err
	}
	name := kinds.Text(loader, "metadata", "name")
	made, err := submitted(ctx, r.cluster, submit.Request{Namespace: j.namespace, Job: 0, Manager: "hyperpod-" + strings.ToLower(rand.Text()[:10]),
		Objects: []submit.Object{{Resource: kinds.BatchJob.Resource, Body: loader}}})
	if err != nil {
		return errs.Wrap(err, "cannot upload "+r.options.Upload)
	}
	uid := kinds.Text(made.Objects[0], "metadata", "uid")
	defer func() {
		ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), stopping)
		defer stop()
		gone := r.cluster.Delete(ctx, kinds.BatchJob.Resource, j.namespace, name, kube.DeleteOptions{UID: uid, Propagation: "Background"})
		if gone != nil && !kube.IsNotFound(gone) {
			r.factory.Notef("warning: cannot delete job %s, which received the upload; it ends after %d hours: %s", name, upload.LoaderHours, gone)
		}
	}()
	r.factory.Notef("uploading through job %s", name)
	if err = r.loaderRuns(ctx, j.namespace, name, uid, end); err == nil {
		copying, stop := end.Bound(ctx)
		defer stop()
		err = r.copyTo(copying, j.namespace, name)
	}
	return notUploaded(r.options, err)
}

// copyTo copies the files to the loader's pod: into a folder that gets its final name when it is complete.
func (r *run) copyTo(ctx context.Context, namespace, name string) error {
	job, err := state.GetJob(ctx, r.cluster.Client, kinds.BatchJob, namespace, name)
	if err != nil {
		return err
	}
	pods, err := logs.Pods(ctx, r.cluster.Client, job)
	if err != nil {
		return err
	}
	if pods = pick.Leader(pods); len(pods) == 0 {
		return errs.New("cannot use job "+name, "its pod is gone")
	}
	target := podflags.Target{Job: job, Pod: pods[0], Container: "loader"}
	if err := podflags.Running(target.Pod, target.Container, "upload files"); err != nil {
		return err
	}
	root, err := openUpload(r.options.Upload)
	if err != nil {
		return err
	}
	defer root.Close()
	c := &podcopy.Copy{Factory: r.factory, Cluster: r.cluster, Target: target}
	pod := c.Pod(ctx)
	final := path.Join(upload.Mounted, r.claimed.Folder)
	there, err := pod.IsFolder(ctx, final)
	if err != nil {
		return err
	}
	if there {
		r.factory.Notef("claim %s has these files already", r.options.UploadPVC)
		return nil
	}
	part := final + "." + strings.ToLower(rand.Text()[:8])
	var entries []tarball.Entry
	for _, e := range r.claimed.Entries {
		entries = append(entries, tarball.Entry{Path: e.Path, Name: e.Path, Info: e.Info})
	}
	err = r.copyParts(ctx, c, pod, transfer.Upload{Pod: pod, Root: root, Entries: entries, To: part, Progress: &c.Moved}, final)
	if err != nil {
		ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), stopping)
		defer stop()
		_, _ = pod.Do(ctx, "rm", "-rf", part) // the job may be over
	}
	return explainedUpload(ctx, c, err)
}

// copyParts copies to the folder of a transfer, compares hashes, and renames the folder.
func (r *run) copyParts(ctx context.Context, c *podcopy.Copy, pod transfer.Pod, u transfer.Upload, final string) error {
	if err := pod.Must(ctx, "mkdir", "-p", u.To); err != nil {
		return err
	}
	stop := c.Show(ctx)
	_, err := u.Copy(ctx)
	stop()
	if err != nil {
		return err
	}
	if err := u.Check(ctx, r.claimed.Sums); err != nil {
		return err
	}
	if there, err := pod.IsFolder(ctx, final); err == nil && there { // another upload of the same files was faster
		return pod.Must(ctx, "rm", "-rf", u.To)
	}
	if err := pod.Must(ctx, "mv", u.To, final); err != nil {
		return err
	}
	// If another upload of the same files was faster just now, mv has put the folder into its folder.
	return pod.Must(ctx, "rm", "-rf", path.Join(final, path.Base(u.To)))
}

// explainedUpload words the error of a copy to the loader.
func explainedUpload(ctx context.Context, c *podcopy.Copy, err error) error {
	var command *transfer.CommandError
	var shrunk *tarball.ShrunkError
	var source *tarball.SourceError
	var known *errs.Error
	what := "cannot copy the files to pod " + c.Target.Pod.Name
	switch {
	case err == nil, ctx.Err() != nil:
		return err
	case errors.As(err, &shrunk), errors.As(err, &source), errors.Is(err, transfer.ErrChanged):
		return errs.New(what, err.Error()).WithCause(err).WithAdvice("start the job again when the files no longer change")
	case errors.As(err, &command):
		return errs.New(what, command.Command+" failed").WithFact("message", command.Message).WithCause(err).
			WithAdvice("the job's image needs tar and sha256sum, and its user needs to write to the claim")
	case (kube.LostConnection(err) || errs.ExitOf(err) == errs.NotFound) && c.End().Over(ctx, c.Cluster):
		return c.End().Why(ctx, c.Cluster, what).WithCause(err)
	case errors.As(err, &known):
		return err
	}
	return errs.New(what, podcopy.Reason(err)).WithCause(err)
}

// examineClaim checks that the claim exists, and says where its access mode makes pods wait. It accepts a claim that the
// user has no permission to read.
func (r *run) examineClaim(ctx context.Context, j job) error {
	name := r.options.UploadPVC
	var claim struct {
		Spec struct {
			AccessModes []string `json:"accessModes"`
		} `json:"spec"`
	}
	err := r.cluster.Get(ctx, kinds.PersistentVolumeClaim, j.namespace, name, &claim)
	switch {
	case kube.IsNotFound(err):
		return noClaim(name, j.namespace).WithCause(err)
	case kube.IsForbidden(err):
		return nil
	case err != nil:
		return err
	}
	modes := strings.Join(claim.Spec.AccessModes, ", ")
	if modes == "ReadOnlyMany" {
		return errs.New("cannot upload "+r.options.Upload+" to claim "+name, "it is "+modes)
	}
	if once, single := onlyOneNode(claim.Spec.AccessModes); once {
		if n := r.pods(j); n > 1 {
			who := "on one node"
			if single {
				who = "one at a time"
			}
			r.factory.Notef("warning: claim %s is %s: of the %d pods, those %s can mount it, the others wait", name, modes, n, who)
		}
		if user := r.userOf(ctx, j.namespace, name); user != "" {
			r.factory.Notef("note: claim %s is %s, and pod %s uses it: the upload may have to wait until that pod ends", name, modes, user)
		}
	}
	return nil
}

// onlyOneNode reports whether one node at a time can mount a claim, and whether one pod can.
func onlyOneNode(modes []string) (node, pod bool) {
	node = len(modes) > 0
	for _, m := range modes {
		switch m {
		case "ReadWriteOnce":
		case "ReadWriteOncePod":
			pod = true
		default: // ReadWriteMany, ReadOnlyMany, and what may come
			return false, false
		}
	}
	return node, pod
}

// pods returns the number of pods of the job.
func (r *run) pods(j job) int {
	n := int64(0)
	kind, ok := kinds.JobFor(kinds.Text(j.Objects[j.Job], "apiVersion"), kinds.Text(j.Objects[j.Job], "kind"))
	if !ok {
		return 0
	}
	whole, object := kind.Whole(j.Objects[j.Job])
	for _, p := range whole.Parts(object) {
		n += p.Replicas
	}
	return int(n)
}

// userOf returns a pod that uses the claim, "" if none is known.
func (r *run) userOf(ctx context.Context, namespace, claim string) string {
	type pod struct {
		Metadata struct {
			Name string `json:"name"`
		} `json:"metadata"`
		Spec struct {
			NodeName string `json:"nodeName"`
			Volumes  []struct {
				Claim struct {
					ClaimName string `json:"claimName"`
				} `json:"persistentVolumeClaim"`
			} `json:"volumes"`
		} `json:"spec"`
		Status struct {
			Phase string `json:"phase"`
		} `json:"status"`
	}
	page, err := kube.List[pod](ctx, r.cluster.Client, kinds.Pod, namespace, kube.ListOptions{})
	if err != nil {
		return "" // it is only for a note
	}
	for _, p := range page.Items {
		for _, v := range p.Spec.Volumes {
			if v.Claim.ClaimName == claim && p.Spec.NodeName != "" && p.Status.Phase == "Running" {
				return p.Metadata.Name
			}
		}
	}
	return ""
}

// attachClaim mounts the folder of the claim in the pods of the job.
func (r *run) attachClaim(object map[string]any) (made upload.Attached, note string, err error) {
	o := r.options
	made, err = upload.AttachClaim(object, o.UploadPVC, r.claimed.Folder, o.UploadTo)
	return made, fmt.Sprintf("--upload: the pods find %s (%s) of %s in %s, read-only, from folder %s of claim %s", words.Count(len(r.claimed.Entries), "file", "files"),
		podcopy.Size(r.claimed.Bytes), o.Upload, o.UploadTo, r.claimed.Folder, o.UploadPVC), err
}

// openUpload opens the folder of --upload.
func openUpload(dir string) (*os.Root, error) {
	if info, err := os.Stat(dir); err == nil && !info.IsDir() { // opening a pipe waits for a writer
		return nil, errs.Usagef("cannot upload %s: not a folder", dir)
	}
	root, err := os.OpenRoot(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, errs.NotFoundf("cannot upload %s: no such folder", dir).WithCause(err)
	}
	if err != nil {
		return nil, errs.New("cannot upload "+dir, errs.FileReason(err)).WithCode(errs.Usage).WithCause(err)
	}
	return root, nil
}
