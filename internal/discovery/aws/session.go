package aws

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/hyperpod-cli/hyperpod/internal/clusters"
	"github.com/hyperpod-cli/hyperpod/internal/errs"
)

var systemsManager = service{id: "SSM", signing: "ssm", target: "AmazonSSM", host: "ssm"}

// Session is a session of Systems Manager on a node that waits for its plugin.
type Session struct {
	ID string
	// Response and Request are the answer and the request of StartSession, in JSON, as
	// the plugin takes them. Response holds a token.
	Response, Request string
	// Region and Endpoint are where the plugin resumes the session.
	Region, Endpoint string
}

// StartSession opens a session. document "" is the account's default, a shell.
func (c *Client) StartSession(ctx context.Context, t clusters.SessionTarget, document string, parameters map[string][]string) (Session, error) {
	what := "cannot start a session on " + t.Instance
	request := Document{"Target": t.String()}
	if document != "" {
		request["DocumentName"] = document
	}
	if len(parameters) > 0 {
		request["Parameters"] = parameters
	}
	var answer struct{ SessionId, StreamUrl, TokenValue string }
	if err := c.call(ctx, systemsManager, "StartSession", request, &answer, true); err != nil {
		if codeOf(err) == "TargetNotConnected" {
			return Session{}, errs.New(what, "Systems Manager has no connection to the node").WithFact("target", t.String()).WithCause(err).
				WithAdvice("the agent on a node connects some minutes after its start")
		}
		return Session{}, c.explain(what, "ssm:StartSession", err)
	}
	response, err := json.Marshal(answer)
	if err != nil {
		return Session{}, err
	}
	text, err := json.Marshal(request)
	if err != nil {
		return Session{}, err
	}
	endpoint, err := c.endpoint(ctx, systemsManager)
	if err != nil {
		return Session{}, err
	}
	return Session{ID: answer.SessionId, Response: string(response), Request: string(text), Region: c.cfg.Region, Endpoint: strings.TrimSuffix(endpoint, "/")}, nil
}

// EndSession ends a session that no plugin took over.
func (c *Client) EndSession(ctx context.Context, id string) error {
	var answer struct{ SessionId string }
	if err := c.call(ctx, systemsManager, "TerminateSession", Document{"SessionId": id}, &answer, false); err != nil {
		return c.explain("cannot end session "+id, "ssm:TerminateSession", err)
	}
	return nil
}
