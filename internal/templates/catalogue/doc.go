// Package catalogue holds the templates that come with the program, and finds those
// of the working folder and of the user's.
package catalogue
