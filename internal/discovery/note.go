package discovery

// Note is a fact about a choice that the user should know. Package
// present/choices words it.
type Note struct {
	Code NoteCode
	// Name is the namespace, LocalQueue or priority class that was chosen.
	Name string
	// Namespace is where the search for LocalQueues was.
	Namespace string
	// Available are the names to choose from.
	Available []string
	// StopPolicy is the LocalQueue's.
	StopPolicy string
	// NotInFile: the objects are not in the snapshot; else the user has no permission
	// to list them.
	NotInFile bool
}

// NoteCode says what a Note is about.
type NoteCode string

// The codes of a Note.
const (
	NamespaceFound    NoteCode = "NamespaceFound"    // the only one that the user has access to
	NamespaceLast     NoteCode = "NamespaceLast"     // the last one that worked
	QueueAssumed      NoteCode = "QueueAssumed"      // by the name that task governance gives
	QueueUnchecked    NoteCode = "QueueUnchecked"    // named by the user
	QueueStopped      NoteCode = "QueueStopped"      // admits nothing
	QueuesUnreadable  NoteCode = "QueuesUnreadable"  // no queue is used
	NoQueue           NoteCode = "NoQueue"           // the namespace has none
	SeveralQueues     NoteCode = "SeveralQueues"     // no queue is used
	NoKueue           NoteCode = "NoKueue"           // no queue is used
	NoPriority        NoteCode = "NoPriority"        // no class is used
	PriorityUnchecked NoteCode = "PriorityUnchecked" // named by the user
	PriorityNoKueue   NoteCode = "PriorityNoKueue"   // it has no effect
)
