package api

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	quantity "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/remotecommand"
	"k8s.io/klog/v2"
	"k8s.io/streaming/pkg/httpstream/wsstream"

	"github.com/hyperpod-cli/hyperpod/internal/crash"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/object"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/shell"
	"github.com/hyperpod-cli/hyperpod/internal/sandbox/store"
)

// execIdle ends an idle exec, like a kubelet.
const execIdle = 4 * time.Hour

// processStart is how long a process takes to start. kubectl before v1.34 loses what arrives before it has made its streams, which
// never happens where a container runtime starts the process.
const processStart = 50 * time.Millisecond

// The supported protocols of exec, and their channels.
const (
	protocolV4 = "v4." + wsstream.ChannelWebSocketProtocol
	protocolV5 = remotecommand.StreamProtocolV5Name
)

// podExec runs a command in the simulated shell, over WebSocket only.
func (s *Server) podExec(c *call) error {
	q := c.URL.Query()
	command := q["command"]
	pod, _, err := s.loggedPod(c, q.Get("container"))
	if err != nil {
		return err
	}
	switch {
	case len(command) == 0:
		return badRequest("you must specify at least 1 command for the container")
	case object.Text(pod.Map(), "status", "phase") != "Running":
		return badRequest("cannot exec into a container in a completed pod; current phase is " + object.Text(pod.Map(), "status", "phase"))
	case !wsstream.IsWebSocketRequest(c.Request):
		return badRequest("a sandbox supports exec over WebSocket only")
	}
	flag := func(name string) bool { on, _ := strconv.ParseBool(q.Get(name)); return on }
	x := execution{tty: flag("tty"), in: flag("stdin"), out: flag("stdout"), err: flag("stderr")}
	sh := shellOf(pod, q.Get("container"))
	if files, ok := s.backend.(podFiles); ok {
		err := s.backend.View(c.Context(), func(st *store.Store) error {
			sh.Files, err = files.PodFiles(st, pod, q.Get("container"))
			return err
		})
		if err != nil {
			return fmt.Errorf("the files of pod %s: %w", pod.Name, err)
		}
		defer sh.Files.Close()
	}
	// The library logs every end of a connection.
	x.serve(c.w, c.WithContext(klog.NewContext(c.Context(), logr.Discard())), command, sh)
	return nil
}

// podFiles is a backend whose pods have files.
type podFiles interface {
	PodFiles(st *store.Store, pod *store.Object, container string) (*shell.Files, error)
}

// shellOf returns the environment of a pod's container.
func shellOf(pod *store.Object, container string) *shell.Shell {
	sh := &shell.Shell{Hostname: pod.Name, Env: map[string]string{}, After: time.After}
	for i, ct := range object.List(pod.Map(), "spec", "containers") {
		if name := object.Text(ct, "name"); name != container && (container != "" || i > 0) {
			continue
		}
		for _, e := range object.List(ct, "env") {
			sh.Env[object.Text(e, "name")] = object.Text(e, "value")
		}
		if gpus, err := quantity.ParseQuantity(fmt.Sprint(object.At(ct, "resources", "limits", "nvidia.com/gpu"))); err == nil {
			sh.GPUs = int(gpus.Value())
		}
	}
	sh.Env["HOSTNAME"], sh.Env["PATH"], sh.Env["HYPERPOD_SANDBOX_POD"] = pod.Name, "/usr/bin:/bin", "true"
	return sh
}

// execution is one command of a client.
type execution struct{ tty, in, out, err bool }

func (x execution) serve(w http.ResponseWriter, r *http.Request, command []string, sh *shell.Shell) {
	channel := func(on bool, t wsstream.ChannelType) wsstream.ChannelType {
		if on {
			return t
		}
		return wsstream.IgnoreChannel
	}
	channels := wsstream.ChannelProtocolConfig{Binary: true, Channels: []wsstream.ChannelType{
		remotecommand.StreamStdIn:  channel(x.in, wsstream.ReadChannel),
		remotecommand.StreamStdOut: channel(x.out, wsstream.WriteChannel),
		remotecommand.StreamStdErr: channel(x.err && !x.tty, wsstream.WriteChannel),
		remotecommand.StreamErr:    wsstream.WriteChannel,
		remotecommand.StreamResize: wsstream.ReadChannel,
	}}
	conn := wsstream.NewConn(map[string]wsstream.ChannelProtocolConfig{protocolV4: channels, protocolV5: channels})
	conn.SetIdleTimeout(execIdle)
	_, streams, err := conn.Open(w, r)
	if err != nil {
		return // the library answered the client
	}
	defer conn.Close()
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	std := shell.Streams{Out: io.Discard, Err: io.Discard, TTY: x.tty}
	if x.in {
		std.In = streams[remotecommand.StreamStdIn]
	}
	if x.out {
		std.Out = streams[remotecommand.StreamStdOut]
		_, _ = std.Out.Write(nil) // reports that the connection is up
	}
	if x.err && !x.tty {
		std.Err = streams[remotecommand.StreamStdErr]
	}
	var size atomic.Uint64
	if x.tty {
		sh.Size = func() (int, int) { v := size.Load(); return int(v >> 32), int(v & 0xFFFFFFFF) }
	}
	crash.Go(func() { // until the connection ends
		defer cancel()
		d := json.NewDecoder(streams[remotecommand.StreamResize])
		for {
			var now struct{ Width, Height uint16 }
			if d.Decode(&now) != nil {
				return
			}
			size.Store(uint64(now.Width)<<32 | uint64(now.Height))
		}
	})
	select {
	case <-sh.After(processStart):
	case <-ctx.Done():
	}
	code := sh.Run(ctx, command, std)
	status, err := json.Marshal(exitStatus(code))
	if err == nil {
		_, _ = streams[remotecommand.StreamErr].Write(status)
	}
}

// exitStatus returns the Status that carries an exit code.
func exitStatus(code int) metav1.Status {
	if code == 0 {
		return metav1.Status{Status: metav1.StatusSuccess}
	}
	return metav1.Status{
		Status: metav1.StatusFailure, Reason: remotecommand.NonZeroExitCodeReason,
		Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{{Type: remotecommand.ExitCodeCauseType, Message: strconv.Itoa(code)}}},
		Message: fmt.Sprintf("command terminated with non-zero exit code: %d", code),
	}
}
