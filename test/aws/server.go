// Package aws is a stateful fake of AWS over HTTP, for tests: SageMaker clusters
// (awsJson1.1), EKS (restJson1), STS (query) and SSM (awsJson1.1) behind one address,
// as AWS_ENDPOINT_URL has it. It keeps versions and reports conflicts, statuses move
// on as they are read, lists come in pages, and faults are throttling, refusals, slow
// answers and partial failures. It imports no AWS SDK, so that it judges one.
package aws

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// The account of the fake, and the only access key that it knows.
const (
	Account   = "123456789012"
	AccessKey = "AKIDEXAMPLE"
	SecretKey = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
)

// Server is the fake: an http.Handler. Create it with New.
type Server struct {
	partition, region string
	now               func() time.Time

	mu      sync.Mutex
	latency time.Duration
	faults  []*Fault
	calls   []string
	serial  int

	clusters *Table[cluster]
	eks      map[string]EKS // by region and name
	sessions []string

	governance governance
	entries    map[string]*accessEntry // by EKS cluster and principal
	// other: the present change is another administrator's.
	other bool
	// noCapacity lets new clusters fail.
	noCapacity bool
}

// Options of a fake; zero values are a region of the partition aws and the real clock.
type Options struct {
	Partition, Region string
	Now               func() time.Time
}

// New returns an empty account.
func New(o Options) *Server {
	s := &Server{partition: o.Partition, region: o.Region, now: o.Now, eks: map[string]EKS{}}
	if s.partition == "" {
		s.partition = "aws"
	}
	if s.region == "" {
		s.region = "us-west-2"
	}
	if s.now == nil {
		s.now = time.Now
	}
	s.clusters = NewTable[cluster]()
	s.governance, s.entries = newGovernance(), map[string]*accessEntry{}
	return s
}

// Fault makes matching requests fail.
type Fault struct {
	// Operation is the operation's name, "*" for any.
	Operation string
	// Contains is a part of the request's body or path; "" is any.
	Contains string
	// Times is how often it strikes; 0 is always.
	Times int
	// Status, Code and Message are the answer.
	Status        int
	Code, Message string
	// Hang never answers.
	Hang bool

	struck int
}

// Fail adds a fault.
func (s *Server) Fail(f Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, &f)
}

// Throttle makes an operation fail n times as AWS does when it is asked too often.
func (s *Server) Throttle(operation string, n int) {
	s.Fail(Fault{Operation: operation, Times: n, Status: 400, Code: "ThrottlingException", Message: "Rate exceeded"})
}

// Delay lets each answer take a time.
func (s *Server) Delay(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.latency = d
}

// Calls returns the requested operations, in their order.
func (s *Server) Calls() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.calls)
}

// Error is an answer of AWS that is an error.
type Error struct {
	Status        int
	Code, Message string
}

func (e *Error) Error() string { return e.Code + ": " + e.Message }

func failf(code, format string, args ...any) *Error {
	return &Error{400, code, fmt.Sprintf(format, args...)}
}

// call is one request.
type call struct {
	operation string
	body      []byte
	http      *http.Request
}

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, 4<<20))
	if err != nil {
		return
	}
	c := call{body: body, http: r}
	answer, write := s.route(&c)
	s.mu.Lock()
	s.calls = append(s.calls, c.operation)
	latency := s.latency
	fault := s.fault(&c)
	s.mu.Unlock()
	if latency > 0 {
		select {
		case <-time.After(latency):
		case <-r.Context().Done():
			return
		}
	}
	switch {
	case fault != nil && fault.Hang:
		<-r.Context().Done()
		return
	case fault != nil:
		write(w, nil, &Error{fault.Status, fault.Code, fault.Message})
		return
	case c.operation == "" || answer == nil:
		write(w, nil, &Error{400, "UnknownOperationException", "the fake does not have this operation"})
		return
	}
	if failure := s.authenticate(&c); failure != nil {
		write(w, nil, failure)
		return
	}
	s.mu.Lock()
	out, failure := answer(&c)
	s.mu.Unlock()
	write(w, out, failure)
}

// fault returns the fault that strikes a request.
func (s *Server) fault(c *call) *Fault {
	for _, f := range s.faults {
		if (f.Operation == "*" || f.Operation == c.operation) && (f.Contains == "" || strings.Contains(string(c.body)+c.http.URL.Path, f.Contains)) && (f.Times == 0 || f.struck < f.Times) {
			f.struck++
			return f
		}
	}
	return nil
}

// answer carries an operation out; it holds the server's lock.
type answer func(*call) (any, *Error)

// writer writes an answer, or an error, in a protocol.
type writer func(http.ResponseWriter, any, *Error)

// route finds the operation and its protocol.
func (s *Server) route(c *call) (answer, writer) {
	service, operation, isJSON := strings.Cut(c.http.Header.Get("X-Amz-Target"), ".")
	switch {
	case isJSON && service == "SageMaker":
		c.operation = operation
		return s.sagemaker(operation), writeJSON
	case isJSON && service == "AmazonSSM":
		c.operation = operation
		return s.ssm(operation), writeJSON
	case isAccessEntry(c.http.URL.Path):
		return s.accessEntries(c), writeREST
	case strings.HasPrefix(c.http.URL.Path, "/clusters"):
		c.operation = "eks.DescribeCluster"
		return s.describeEKS, writeREST
	}
	c.operation = formOf(c).Get("Action")
	return s.sts(c.operation), writeXML
}

// writeJSON is the protocol awsJson1.1.
func writeJSON(w http.ResponseWriter, out any, failure *Error) {
	w.Header().Set("Content-Type", "application/x-amz-json-1.1")
	if failure != nil {
		w.WriteHeader(failure.Status)
		_ = json.NewEncoder(w).Encode(map[string]string{"__type": failure.Code, "message": failure.Message})
		return
	}
	_ = json.NewEncoder(w).Encode(out)
}

// writeREST is the protocol restJson1.
func writeREST(w http.ResponseWriter, out any, failure *Error) {
	w.Header().Set("Content-Type", "application/json")
	if failure != nil {
		w.Header().Set("X-Amzn-Errortype", failure.Code)
		w.WriteHeader(failure.Status)
		_ = json.NewEncoder(w).Encode(map[string]string{"message": failure.Message})
		return
	}
	_ = json.NewEncoder(w).Encode(out)
}

// writeXML is the protocol awsQuery.
func writeXML(w http.ResponseWriter, out any, failure *Error) {
	w.Header().Set("Content-Type", "text/xml")
	if failure != nil {
		w.WriteHeader(failure.Status)
		out = struct {
			XMLName xml.Name `xml:"ErrorResponse"`
			Code    string   `xml:"Error>Code"`
			Message string   `xml:"Error>Message"`
		}{Code: failure.Code, Message: failure.Message}
	}
	_ = xml.NewEncoder(w).Encode(out)
}

// read decodes the body of a request; a member that the operation does not have is an
// error, which AWS would pass over.
func read[T any](c *call) (T, *Error) {
	var in T
	d := json.NewDecoder(strings.NewReader(string(c.body)))
	d.DisallowUnknownFields()
	if err := d.Decode(&in); err != nil {
		return in, failf("SerializationException", "%v", err)
	}
	return in, nil
}

// seconds is a time as AWS's JSON has it.
func seconds(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }

// id returns a new id of twelve characters.
func (s *Server) id() string {
	s.serial++
	return fmt.Sprintf("a%011x", s.serial)
}
