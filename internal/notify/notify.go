// Package notify sends notifications about a job: on the terminal, to a command, or as a request to a URL. Each
// has a time limit.
package notify

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/hyperpod-cli/hyperpod/internal/bounded"
)

// Schema is the version of the document.
const Schema = "hyperpod.notification/v1"

// Limits of a notification.
const (
	postWithin = 15 * time.Second
	runWithin  = 30 * time.Second
	maxAnswer  = 4 << 10
)

// Document is what a command gets on stdin, and an address as the body of a request.
type Document struct {
	Schema         string
	Job, Namespace string
	Kind           string
	State          string
	Reason         string
	Goal           string
	Reached        bool
	Time           time.Time
	// Text is the sentence for people, under the key that chat services expect.
	Text string `json:"text"`
}

// Terminal returns what makes a terminal ring, and show the text where it supports
// notifications (OSC 9).
func Terminal(text string) string {
	clean := strings.Map(func(r rune) rune {
		if r < 0x20 || r >= 0x7f && r < 0xa0 {
			return ' '
		}
		return r
	}, text)
	return "\x1b]9;" + clean + "\x1b\\\a"
}

// The faults of an address.
var (
	ErrAddress  = errors.New("must be an http or https address")
	ErrPassword = errors.New("must not contain a user or a password")
)

// CheckURL checks an address.
func CheckURL(address string) error {
	u, err := url.Parse(address)
	switch {
	case err != nil, u.Scheme != "http" && u.Scheme != "https", u.Host == "":
		return ErrAddress
	case u.User != nil:
		return ErrPassword
	}
	return nil
}

// Post sends the document. It follows no redirect, and sends no credentials. Errors do
// not contain the address: in many services it is a secret.
func Post(ctx context.Context, address string, d Document, agent string) error {
	ctx, stop := context.WithTimeout(ctx, postWithin)
	defer stop()
	body, err := json.Marshal(d)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return ErrAddress
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", agent)
	client := http.Client{
		Transport:     &http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	resp, err := client.Do(req)
	var failed *url.Error
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("no answer within %s", postWithin)
	case errors.As(err, &failed):
		return failed.Err
	case err != nil:
		return err
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, maxAnswer))
	switch resp.StatusCode / 100 {
	case 2:
		return nil
	case 3:
		return fmt.Errorf("it redirects to another address (%s), which is not followed", resp.Status)
	}
	return fmt.Errorf("it answered %s", resp.Status)
}

// Run runs a command with the document on stdin and in variables.
func Run(ctx context.Context, argv []string, d Document) error {
	ctx, stop := context.WithTimeout(ctx, runWithin)
	defer stop()
	body, err := json.Marshal(d)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.WaitDelay = time.Second // its children may hold the output open
	cmd.Stdin = bytes.NewReader(body)
	cmd.Env = append(os.Environ(), "HYPERPOD_JOB="+d.Job, "HYPERPOD_JOB_NAMESPACE="+d.Namespace, "HYPERPOD_JOB_STATE="+d.State, "HYPERPOD_JOB_TEXT="+d.Text)
	out := bounded.NewHead(maxAnswer)
	cmd.Stdout, cmd.Stderr = out, out
	err = cmd.Run()
	if ctx.Err() != nil {
		return fmt.Errorf("it did not end within %s", runWithin)
	}
	if first, _, _ := strings.Cut(strings.TrimSpace(out.String()), "\n"); err != nil && first != "" {
		return fmt.Errorf("%w: %s", err, first)
	}
	return err
}
