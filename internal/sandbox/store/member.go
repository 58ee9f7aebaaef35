package store

import "bytes"

// member returns the value of one key of a JSON object, nil if the key is missing. It
// skips earlier values without decoding them and ignores later ones: metadata is among
// the first keys of an object, and most of an object comes after it.
func member(raw []byte, key string) []byte {
	at := space(raw, 0)
	if at >= len(raw) || raw[at] != '{' {
		return nil
	}
	for at = space(raw, at+1); at < len(raw) && raw[at] == '"'; at = space(raw, at+1) {
		end := value(raw, at)
		if end < 0 {
			break
		}
		name := raw[at+1 : end-1]
		at = space(raw, end)
		if at >= len(raw) || raw[at] != ':' {
			break
		}
		at = space(raw, at+1)
		if end = value(raw, at); end < 0 {
			break
		}
		if string(name) == key {
			return raw[at:end]
		}
		at = space(raw, end)
		if at >= len(raw) || raw[at] != ',' {
			break
		}
	}
	return nil
}

// space returns the offset of the next byte that is not white space.
func space(raw []byte, at int) int {
	for at < len(raw) && (raw[at] == ' ' || raw[at] == '\n' || raw[at] == '\t' || raw[at] == '\r') {
		at++
	}
	return at
}

// value returns the end of the value at an offset, -1 if there is none.
func value(raw []byte, at int) int {
	depth := 0
	for at < len(raw) {
		switch raw[at] {
		case '"':
			end := text(raw, at)
			if end < 0 {
				return -1
			}
			if at = end; depth == 0 {
				return at
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return at // the end of a number or word
			}
			if depth--; depth == 0 {
				return at + 1
			}
		case ',':
			if depth == 0 {
				return at
			}
		}
		at++
	}
	return -1
}

// text returns the end of the string at an offset, -1 if it has none.
func text(raw []byte, at int) int {
	for from := at + 1; ; {
		i := bytes.IndexByte(raw[from:], '"')
		if i < 0 {
			return -1
		}
		from += i + 1
		escapes := 0
		for raw[from-2-escapes] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			return from
		}
	}
}
