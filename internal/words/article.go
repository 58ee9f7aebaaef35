package words

import "strings"

// WithArticle puts "a" or "an" before a noun, by how it is read aloud: "a Job",
// "an MPIJob", "an XGBoostJob".
func WithArticle(noun string) string {
	if noun == "" {
		return noun
	}
	spelled := len(noun) > 1 && noun[1] >= 'A' && noun[1] <= 'Z' // its letters are read one by one
	if spelled && strings.ContainsRune("AEFHILMNORSX", rune(noun[0])) || !spelled && strings.ContainsRune("AEIOUaeiou", rune(noun[0])) {
		return "an " + noun
	}
	return "a " + noun
}
