// Package connlimit limits how many connections a server of this machine has at a time.
package connlimit

import (
	"crypto/tls"
	"net"
	"net/http"
	"sync"
)

// Listen returns ln with a limit for its open connections, and sets server to count those that have no request. When the
// limit is reached, a new connection replaces the one that has been without a request for the longest time. If all
// have one, the new connection is closed. So connections without requests keep nobody out.
func Listen(server *http.Server, ln net.Listener, most int) net.Listener {
	l := &listener{Listener: ln, most: most, open: map[*conn]bool{}}
	server.ConnState = l.note
	return l
}

type listener struct {
	net.Listener
	most int

	mu   sync.Mutex
	open map[*conn]bool
	// turn counts changes, so that the oldest is known.
	turn int
}

// conn is an open connection.
type conn struct {
	net.Conn
	of *listener
	// idle is the turn at which it began to be without a request, 0 while it has one.
	idle int
}

// Accept returns the next connection that has a place.
func (l *listener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		place, replaced := l.place(c)
		if replaced != nil {
			_ = replaced.Close() // it has no request that could fail
		}
		if place != nil {
			return place, nil
		}
		_ = c.Close() // the client sees a connection without an answer
	}
}

// place makes place for a connection and returns the one that has to go; nil, nil means that there is no place.
func (l *listener) place(c net.Conn) (place, replaced *conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.open) >= l.most {
		for other := range l.open {
			if other.idle > 0 && (replaced == nil || other.idle < replaced.idle) {
				replaced = other
			}
		}
		if replaced == nil {
			return nil, nil
		}
		delete(l.open, replaced)
	}
	l.turn++
	place = &conn{Conn: c, of: l, idle: l.turn}
	l.open[place] = true
	return place, replaced
}

// Close gives the place free.
func (c *conn) Close() error {
	c.of.mu.Lock()
	delete(c.of.open, c)
	c.of.mu.Unlock()
	return c.Conn.Close()
}

// CloseWrite ends what the server sends, as the connection below does. The server calls it before it closes a connection whose
// request it has not read to its end, so that the client gets the answer and no reset.
func (c *conn) CloseWrite() error {
	if below, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return below.CloseWrite()
	}
	return nil
}

// note learns from the server whether a connection has a request.
func (l *listener) note(given net.Conn, state http.ConnState) {
	if over, ok := given.(*tls.Conn); ok {
		given = over.NetConn()
	}
	c, ok := given.(*conn)
	if !ok {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch state {
	case http.StateIdle:
		l.turn++
		c.idle = l.turn
	case http.StateActive, http.StateHijacked:
		c.idle = 0
	}
}
