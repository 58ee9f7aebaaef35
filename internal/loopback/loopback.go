// Package loopback tells addresses of this machine from others.
package loopback

import "net"

// Is reports whether a host, without brackets and port, is localhost or a loopback address.
func Is(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
