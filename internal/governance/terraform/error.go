package terraform

// ErrorCode is why a Terraform plan has no document that can be used.
type ErrorCode string

// The codes of errors.
const (
	NotPlan         ErrorCode = "NotPlan"         // Err is why it cannot be read
	NoGovernance    ErrorCode = "NoGovernance"    // it has no resource of task governance
	InvalidResource ErrorCode = "InvalidResource" // Err is why the resource at Address cannot be read
	TwoPolicies     ErrorCode = "TwoPolicies"     // the resources at Address and Other are cluster policies
)

// Error is why a Terraform plan cannot be used. Package present/policytext words it.
type Error struct {
	Code           ErrorCode
	Address, Other string
	Err            error
}

// Error returns the code and the cause, for logs.
func (e *Error) Error() string {
	text := string(e.Code) + " " + e.Address
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }
