package kube

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/bounded"
)

// Ping is what one small request shows about a server.
type Ping struct {
	// Version is the server's own, such as v1.33.4.
	Version string
	// Sent and Received are this machine's clock around the request; the connection may have
	// been made in between.
	Sent, Received time.Time
	// Date is the server's clock, in whole seconds; zero where the answer has none.
	Date time.Time
}

// Ping asks the server for its version.
func (c *Client) Ping(ctx context.Context) (Ping, error) {
	p := Ping{Sent: c.o.Now()}
	k := call{method: http.MethodGet, path: "/version", safe: true, verb: "reach the API server"}
	resp, err := c.do(ctx, k)
	if err != nil {
		return p, err
	}
	defer resp.Body.Close()
	p.Received = c.o.Now()
	p.Date, _ = http.ParseTime(resp.Header.Get("Date"))
	var answer struct {
		Version string `json:"gitVersion"`
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, bounded.Settings))
	if err != nil {
		return p, c.explain(ctx, k, &bodyError{err})
	}
	if err := json.Unmarshal(data, &answer); err != nil {
		return p, c.explain(ctx, k, &bodyError{err})
	}
	p.Version = answer.Version
	return p, nil
}

// WhoAmI returns the user's name at the server (a SelfSubjectReview).
func (c *Client) WhoAmI(ctx context.Context) (string, error) {
	var answer struct {
		Status struct {
			UserInfo struct {
				Username string `json:"username"`
			} `json:"userInfo"`
		} `json:"status"`
	}
	err := c.object(ctx, call{method: http.MethodPost, path: "/apis/authentication.k8s.io/v1/selfsubjectreviews",
		body:        []byte(`{"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"}`),
		contentType: "application/json", safe: true, verb: "find out who you are"}, &answer)
	return answer.Status.UserInfo.Username, err
}
