package submit

import "fmt"

// ErrorCode is why a submission failed.
type ErrorCode string

// The codes of errors.
const (
	Exists          ErrorCode = "Exists"          // the job exists: Found
	Differs         ErrorCode = "Differs"         // Object exists and differs by Changes
	OtherDefinition ErrorCode = "OtherDefinition" // the job exists: Found, with the same key and another definition; Changes
	NotChangeable   ErrorCode = "NotChangeable"   // Object exists; Err is why it cannot be changed
	NotRemoved      ErrorCode = "NotRemoved"      // Err is why Object, of an earlier job, cannot be removed
	Unread          ErrorCode = "Unread"          // Object exists; Err is why it cannot be compared with a request of the same key
	OutcomeUnknown  ErrorCode = "Unclear"         // Object may have been created or not
	Undone          ErrorCode = "Undone"          // Err is why, after some objects; the lists say what became of them
)

// Error is why a submission failed. Package present/jobtext words it.
type Error struct {
	Code      ErrorCode
	Object    Object
	Namespace string
	// Found is the object on the server.
	Found   map[string]any
	Changes []Change
	// What became of the objects that were created or changed before the failure, the
	// last one first.
	Removed, Restored, NotRemoved, NotRestored []Object
	Err                                        error
}

func (e *Error) Error() string {
	text := string(e.Code)
	if e.Object.Body != nil {
		text += " " + e.Object.String()
	}
	if e.Err != nil {
		text = fmt.Sprintf("%s: %v", text, e.Err)
	}
	return text
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }
