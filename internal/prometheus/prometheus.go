// Package prometheus asks a Prometheus server, or one with the same HTTP API, to evaluate queries. Requests have a time
// limit and answers a size limit. Redirects are refused: followed, they would carry credentials to another host.
package prometheus

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/bounded"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/loopback"
)

// The limits of a request and its answer.
const (
	answerWithin = 30 * time.Second
	mostBytes    = bounded.Object
	mostToken    = 64 << 10
	mostMessage  = 300
)

// Options change how a client asks.
type Options struct {
	// TokenFile is a file with a bearer token, read for each request; "" sends none.
	TokenFile string
	UserAgent string
	// Timeout is the limit of one request; 0 is 30 seconds.
	Timeout time.Duration
}

// Client asks one server. It is safe for concurrent use.
type Client struct {
	base *url.URL
	user *url.Userinfo
	o    Options
	http *http.Client
}

// The reasons why an address is refused.
var (
	ErrAddress = errors.New("it must begin with http:// or https:// and name a host")
	ErrPlain   = errors.New("a token is only sent over https, or to this machine")
)

// New returns a client; no request is sent. The address may have a user and a password. They are sent, and are in no
// error.
func New(address string, o Options) (*Client, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, ErrAddress
	}
	if o.TokenFile != "" && u.Scheme == "http" && !loopback.Is(u.Hostname()) {
		return nil, ErrPlain
	}
	if o.Timeout == 0 {
		o.Timeout = answerWithin
	}
	c := &Client{base: u, user: u.User, o: o, http: &http.Client{
		Transport:     &http.Transport{Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, IdleConnTimeout: time.Minute},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return c, nil
}

// Address returns the server's address without user and password.
func (c *Client) Address() string { return c.base.String() }

// Series are the values of one combination of labels.
type Series struct {
	Labels map[string]string
	Points []Point
}

// Point is a value at a time.
type Point struct {
	Time  time.Time
	Value float64
}

// Query evaluates a query now, by the server's clock.
func (c *Client) Query(ctx context.Context, query string) ([]Series, error) {
	return c.ask(ctx, "query", url.Values{"query": {query}})
}

// Range evaluates a query at each step from a time to another.
func (c *Client) Range(ctx context.Context, query string, from, to time.Time, step time.Duration) ([]Series, error) {
	return c.ask(ctx, "query_range", url.Values{"query": {query}, "start": {seconds(from)}, "end": {seconds(to)}, "step": {strconv.FormatFloat(step.Seconds(), 'f', -1, 64)}})
}

func seconds(t time.Time) string { return strconv.FormatInt(t.Unix(), 10) }

// answer is the form of the API's answers.
type answer struct {
	Status string `json:"status"`
	Error  string `json:"error"`
	Data   struct {
		ResultType string `json:"resultType"`
		Result     []struct {
			Metric map[string]string `json:"metric"`
			Value  *point            `json:"value"`
			Values []point           `json:"values"`
		} `json:"result"`
	} `json:"data"`
}

type point Point

// UnmarshalJSON reads [seconds, "value"].
func (p *point) UnmarshalJSON(data []byte) error {
	var pair [2]any
	if err := json.Unmarshal(data, &pair); err != nil {
		return err
	}
	at, isTime := pair[0].(float64)
	text, isText := pair[1].(string)
	value, err := strconv.ParseFloat(text, 64)
	if !isTime || !isText || err != nil {
		return errors.New("not a value")
	}
	*p = point{time.UnixMilli(int64(math.Round(at * 1000))).UTC(), value}
	return nil
}

// ask sends a request.
func (c *Client) ask(ctx context.Context, path string, values url.Values) ([]Series, error) {
	ctx, stop := context.WithTimeout(ctx, c.o.Timeout)
	defer stop()
	body, err := c.send(ctx, path, values)
	if err != nil {
		return nil, c.explain(ctx, err)
	}
	out, err := decode(body)
	if err != nil {
		return nil, c.failed("the answer is not that of a Prometheus", err)
	}
	return out, nil
}

// errAnswer is the error of an answer that has another form.
var errAnswer = errors.New("the answer must be a vector or a matrix")

// decode reads an answer. NaN and infinite values are left out.
func decode(body []byte) ([]Series, error) {
	var a answer
	if err := json.Unmarshal(body, &a); err != nil {
		return nil, err
	}
	if a.Status != "success" || a.Data.ResultType != "vector" && a.Data.ResultType != "matrix" {
		return nil, errAnswer
	}
	out := make([]Series, 0, len(a.Data.Result))
	for _, r := range a.Data.Result {
		if r.Value != nil {
			r.Values = append(r.Values, *r.Value)
		}
		s := Series{Labels: r.Metric}
		for _, p := range r.Values {
			if !math.IsNaN(p.Value) && !math.IsInf(p.Value, 0) {
				s.Points = append(s.Points, Point(p))
			}
		}
		out = append(out, s)
	}
	return out, nil
}

func (c *Client) send(ctx context.Context, path string, values url.Values) ([]byte, error) {
	at := c.base.JoinPath("api/v1", path)
	at.RawQuery = values.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("User-Agent", c.o.UserAgent)
	req.Header.Set("Accept", "application/json")
	switch {
	case c.o.TokenFile != "":
		token, err := bounded.File(c.o.TokenFile, mostToken)
		if err != nil {
			return nil, errs.New("cannot read the token of Prometheus", errs.FileReason(err)).WithFact("file", c.o.TokenFile).WithCause(err)
		}
		req.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	case c.user != nil:
		password, _ := c.user.Password()
		req.SetBasicAuth(c.user.Username(), password)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := bounded.ReadAll(resp.Body, mostBytes)
	switch code := resp.StatusCode; {
	case code/100 == 3:
		return nil, c.failed("it redirects to another address, which is not followed", nil)
	case code == http.StatusUnauthorized, code == http.StatusForbidden:
		return nil, c.failed("the server refuses the credentials ("+resp.Status+")", nil).WithCode(errs.Denied)
	case code != http.StatusOK:
		return nil, c.failed(refusal(resp.Status, body), nil)
	}
	return body, err
}

// refusal returns why the server did not evaluate a query, in its words where it has some.
func refusal(status string, body []byte) string {
	var a answer
	if json.Unmarshal(body, &a) == nil && a.Error != "" {
		if text := []rune(a.Error); len(text) > mostMessage {
			a.Error = string(text[:mostMessage]) + "..."
		}
		return a.Error
	}
	return "the server answered " + status
}

// failed returns the error about a query.
func (c *Client) failed(why string, cause error) *errs.Error {
	return errs.New("cannot query Prometheus", why).WithFact("server", c.Address()).WithCause(cause)
}

// explain says why no answer came. An error of the HTTP client has the address with the query in front.
func (c *Client) explain(ctx context.Context, err error) error {
	var known *errs.Error
	var sent *url.Error
	switch {
	case errors.As(err, &known):
		return known
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return c.failed(fmt.Sprintf("no answer within %s", c.o.Timeout), err)
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &sent):
		return c.failed(sent.Err.Error(), sent.Err)
	}
	return c.failed(err.Error(), err)
}
