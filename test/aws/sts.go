package aws

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/xml"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// formOf returns the parameters of a query request, from the body or the URL.
func formOf(c *call) url.Values {
	form, err := url.ParseQuery(string(c.body))
	if err != nil || form.Get("Action") == "" {
		return c.http.URL.Query()
	}
	return form
}

func (s *Server) sts(operation string) answer {
	if operation != "GetCallerIdentity" {
		return nil
	}
	return func(*call) (any, *Error) {
		type result struct {
			Arn, UserId, Account string
		}
		return struct {
			XMLName xml.Name `xml:"GetCallerIdentityResponse"`
			Result  result   `xml:"GetCallerIdentityResult"`
		}{Result: result{s.Caller(), "AIDAEXAMPLE", Account}}, nil
	}
}

// Caller is the ARN of the only user.
func (s *Server) Caller() string { return "arn:" + s.partition + ":iam::" + Account + ":user/ada" }

// authenticate checks who signed a request.
func (s *Server) authenticate(c *call) *Error {
	query := c.http.URL.Query()
	credential := query.Get("X-Amz-Credential")
	if credential == "" {
		_, credential, _ = strings.Cut(c.http.Header.Get("Authorization"), "Credential=")
	}
	switch key, _, _ := strings.Cut(credential, "/"); key {
	case "":
		return &Error{403, "MissingAuthenticationTokenException", "Missing Authentication Token"}
	case AccessKey:
	default:
		return &Error{403, "UnrecognizedClientException", "The security token included in the request is invalid."}
	}
	if query.Get("X-Amz-Signature") != "" && !presigned(c.http) {
		return &Error{403, "SignatureDoesNotMatch", "The request signature we calculated does not match the signature you provided."}
	}
	return nil
}

// presigned verifies the signature of a presigned GET (Signature Version 4).
func presigned(r *http.Request) bool {
	query := r.URL.Query()
	signature := query.Get("X-Amz-Signature")
	query.Del("X-Amz-Signature")
	scope := strings.SplitN(query.Get("X-Amz-Credential"), "/", 2)
	if len(scope) != 2 || r.Method != http.MethodGet {
		return false
	}
	names := strings.Split(query.Get("X-Amz-SignedHeaders"), ";")
	slices.Sort(names)
	var headers strings.Builder
	for _, n := range names {
		value := r.Header.Get(n)
		if n == "host" {
			value = r.Host
		}
		headers.WriteString(n + ":" + strings.TrimSpace(value) + "\n")
	}
	empty := sha256.Sum256(nil)
	canonical := strings.Join([]string{r.Method, "/", strings.ReplaceAll(query.Encode(), "+", "%20"), headers.String(), strings.Join(names, ";"), hex.EncodeToString(empty[:])}, "\n")
	hash := sha256.Sum256([]byte(canonical))
	text := strings.Join([]string{"AWS4-HMAC-SHA256", query.Get("X-Amz-Date"), scope[1], hex.EncodeToString(hash[:])}, "\n")
	key := []byte("AWS4" + SecretKey)
	for _, part := range strings.Split(scope[1], "/") {
		key = mac(key, part)
	}
	return hmac.Equal([]byte(signature), []byte(hex.EncodeToString(mac(key, text))))
}

func mac(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}

// The limits that EKS sets to tokens.
const (
	tokenPrefix = "k8s-aws-v1."
	tokenAge    = 15 * time.Minute
)

// SignsIn checks a token for an EKS cluster as EKS does: a GetCallerIdentity that was
// presigned for this cluster with a known key, not longer than 15 minutes ago.
func (s *Server) SignsIn(token, eksCluster string) bool {
	encoded, ok := strings.CutPrefix(token, tokenPrefix)
	if !ok {
		return false
	}
	text, err := base64.RawURLEncoding.DecodeString(encoded)
	if err != nil {
		return false
	}
	r, err := http.NewRequest(http.MethodGet, string(text), nil)
	if err != nil {
		return false
	}
	query := r.URL.Query()
	signed, err := time.Parse("20060102T150405Z", query.Get("X-Amz-Date"))
	if age := s.now().Sub(signed); err != nil || age > tokenAge || age < -tokenAge {
		return false
	}
	if query.Get("Action") != "GetCallerIdentity" || query.Get("X-Amz-Expires") != "60" || query.Get("X-Amz-SignedHeaders") != "host;x-k8s-aws-id" {
		return false
	}
	r.Header.Set("x-k8s-aws-id", eksCluster)
	return strings.HasPrefix(query.Get("X-Amz-Credential"), AccessKey+"/") && presigned(r)
}

// TokenHost is the host of the URL in a token, "" if there is none.
func TokenHost(token string) string {
	text, err := base64.RawURLEncoding.DecodeString(strings.TrimPrefix(token, tokenPrefix))
	if err != nil {
		return ""
	}
	u, err := url.Parse(string(text))
	if err != nil {
		return ""
	}
	return u.Host
}
