package kinds

// Runtime describes a kind whose jobs name another object, the runtime, which has the
// templates of their pods. The operator makes an object of a further kind of both.
type Runtime struct {
	// Ref leads to the name and the kind of the runtime.
	Ref []string
	// Kinds are those that a reference can name, the default first.
	Kinds []Resource
	// Child is the kind of the object that the operator makes.
	Child *Job
	// Outline returns the child as far as the job itself says how it looks. It shares no
	// map with the job.
	Outline func(job map[string]any) map[string]any
	// Fold changes the job so that its outline becomes child.
	Fold func(job, child map[string]any) error
	// ChildStatus leads to the counts of the child's parts, a list of items with a name.
	ChildStatus []string
	// Progress and Remaining lead to the part that is done, in percent, and to the seconds
	// that remain, as the job itself reports them.
	Progress, Remaining []string
}

// Reference is the runtime that a job names.
type Reference struct {
	Resource
	Namespace, Name string
}

// childKey holds the child of a job while a program works with both (WithChild). No API
// server ever has it.
const childKey = "hyperpod.child"

// RuntimeOf returns the runtime that an object names, false for kinds without one and for
// an object that names none or one of an unknown kind.
func (j Job) RuntimeOf(object map[string]any) (Reference, bool) {
	if j.Runtime == nil {
		return Reference{}, false
	}
	ref, _ := lookup(object, j.Runtime.Ref).(map[string]any)
	name, kind := Text(ref, "name"), Text(ref, "kind")
	for _, r := range j.Runtime.Kinds {
		if name == "" || kind != "" && kind != r.Kind {
			continue
		}
		out := Reference{Resource: r, Name: name}
		if r.Namespaced {
			out.Namespace = Text(object, "metadata", "namespace")
		}
		return out, true
	}
	return Reference{}, false
}

// WithChild returns the object together with the child that its operator makes of it.
// Parts reads the child; the result is not for an API server.
func WithChild(object, child map[string]any) map[string]any {
	out := make(map[string]any, len(object)+1)
	for k, v := range object {
		out[k] = v
	}
	out[childKey] = child
	return out
}

// ChildOf returns the child that WithChild added, nil without one.
func ChildOf(object map[string]any) map[string]any {
	m, _ := object[childKey].(map[string]any)
	return m
}

// WithoutChild returns the object as an API server has it.
func WithoutChild(object map[string]any) map[string]any {
	if ChildOf(object) == nil {
		return object
	}
	out := make(map[string]any, len(object))
	for k, v := range object {
		if k != childKey {
			out[k] = v
		}
	}
	return out
}

// shape is how the objects of a kind without pod templates of its own describe their pods.
func (j Job) shape() (child *Job, outline func(map[string]any) map[string]any, fold func(job, child map[string]any) error) {
	switch {
	case j.Runtime != nil:
		return j.Runtime.Child, j.Runtime.Outline, j.Runtime.Fold
	case j.Form != nil:
		return j.Form.job(), j.Form.outline, j.Form.fold
	}
	return nil, nil, nil
}

// Unfold adds the outline of its pods to a job without pod templates, for changes of
// the pods, and Fold puts the changes into the job. Jobs of other kinds stay as they are.
func (j Job) Unfold(object map[string]any) {
	if _, outline, _ := j.shape(); outline != nil {
		object[childKey] = outline(object)
	}
}

// Fold returns the opposite of Unfold. It returns an error for a change that the kind has no
// field for.
func (j Job) Fold(object map[string]any) error {
	child := ChildOf(object)
	if child == nil {
		return nil
	}
	delete(object, childKey)
	_, _, fold := j.shape()
	return fold(object, child)
}

// Whole returns the object that has the parts of a job: its child, or the outline of one,
// for kinds without pod templates, and else the object itself.
func (j Job) Whole(object map[string]any) (Job, map[string]any) {
	child, outline, _ := j.shape()
	switch {
	case child == nil:
		return j, object
	case ChildOf(object) != nil:
		return *child, ChildOf(object)
	}
	return *child, outline(object)
}
