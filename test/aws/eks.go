package aws

import (
	"net/http"
	"strings"
)

// EKS is an EKS cluster.
type EKS struct {
	Name string
	// Region is the server's where it is "".
	Region string
	// Server and CA (PEM, base64-encoded) lead to its API server.
	Server, CA string
	// Status is ACTIVE where it is "".
	Status string
	// Private: the address answers in the VPC only.
	Private bool
}

// AddEKS adds an EKS cluster and returns its ARN.
func (s *Server) AddEKS(e EKS) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e.Region == "" {
		e.Region = s.region
	}
	if e.Status == "" {
		e.Status = "ACTIVE"
	}
	s.eks[e.Region+"/"+e.Name] = e
	return s.arn("eks", e.Region, "cluster/"+e.Name)
}

func (s *Server) arn(service, region, resource string) string {
	return strings.Join([]string{"arn", s.partition, service, region, Account, resource}, ":")
}

// regionOf is the region that a request was signed for.
func regionOf(r *http.Request) string {
	_, credential, _ := strings.Cut(r.Header.Get("Authorization"), "Credential=")
	if parts := strings.Split(credential, "/"); len(parts) > 2 {
		return parts[2]
	}
	return ""
}

func (s *Server) describeEKS(c *call) (any, *Error) {
	name := strings.TrimPrefix(c.http.URL.Path, "/clusters/")
	e, ok := s.eks[regionOf(c.http)+"/"+name]
	if !ok {
		return nil, &Error{404, "ResourceNotFoundException", "No cluster found for name: " + name + "."}
	}
	cluster := map[string]any{
		"name": e.Name, "arn": s.arn("eks", e.Region, "cluster/"+e.Name), "status": e.Status, "version": "1.33",
		"resourcesVpcConfig": map[string]any{"endpointPublicAccess": !e.Private, "endpointPrivateAccess": true},
		"accessConfig":       map[string]any{"authenticationMode": "API_AND_CONFIG_MAP"},
	}
	if e.Server != "" {
		cluster["endpoint"], cluster["certificateAuthority"] = e.Server, map[string]any{"data": e.CA}
	}
	return map[string]any{"cluster": cluster}, nil
}

// Guard lets requests with a token for the EKS cluster through to its API server.
func (s *Server) Guard(eksCluster string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		if !s.SignsIn(token, eksCluster) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = w.Write([]byte(`{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Unauthorized","reason":"Unauthorized","code":401}`))
			return
		}
		next.ServeHTTP(w, r)
	})
}
