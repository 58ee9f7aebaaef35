package factory

import (
	"errors"
	"strconv"
	"time"

	"github.com/spf13/pflag"

	"github.com/hyperpod-cli/hyperpod/internal/errs"
	"github.com/hyperpod-cli/hyperpod/internal/words"
)

// OptionalInt defines a flag that takes a whole number. value is nil until the flag is given.
func OptionalInt(fs *pflag.FlagSet, value **int, name, usage string) {
	fs.Var(&optional[int]{value: value, read: strconv.Atoi, kind: "int"}, name, usage)
}

// OptionalBool defines a flag that takes true or false, and true without a value. value is nil until the flag is given.
func OptionalBool(fs *pflag.FlagSet, value **bool, name, usage string) {
	fs.Var(&optional[bool]{value: value, read: strconv.ParseBool, kind: "bool"}, name, usage)
	fs.Lookup(name).NoOptDefVal = "true"
}

// OptionalDuration defines a flag that takes a duration, or 0. value is nil until the flag is given.
func OptionalDuration(fs *pflag.FlagSet, value **time.Duration, name, usage string) {
	fs.Var(&optional[time.Duration]{value: value, read: time.ParseDuration, kind: "duration"}, name, usage)
}

// OptionalAge defines a flag that takes a duration in which days may be given (7d, 36h). value is nil until the flag is
// given.
func OptionalAge(fs *pflag.FlagSet, value **time.Duration, name, usage string) {
	fs.Var(&optional[time.Duration]{value: value, kind: "age", read: func(text string) (time.Duration, error) {
		if d, ok := words.ParseDuration(text); ok {
			return d, nil
		}
		return 0, errors.New("not a duration")
	}}, name, usage)
}

// A PointInTime is a point in time as it was typed: a time, or how long before now it is.
type PointInTime struct {
	Time time.Time
	// Ago is the time before now; it counts where Time is zero.
	Ago time.Duration
}

// At returns the point in time.
func (m PointInTime) At(now time.Time) time.Time {
	if !m.Time.IsZero() {
		return m.Time
	}
	return now.Add(-m.Ago)
}

// CheckPast returns the usage error about the start of a list in the future, where nothing has happened. m may be nil.
func (m *PointInTime) CheckPast(flag string, now time.Time) error {
	if m == nil || !m.At(now).After(now) {
		return nil
	}
	return Invalid(flag, m.Time.UTC().Format(time.RFC3339), "must be before now").Suggest(errs.Option("--"+flag, "7d"))
}

// OptionalPointInTime defines a flag that takes a duration before now, a date (its start in UTC) or a time. value is nil until
// the flag is given.
func OptionalPointInTime(fs *pflag.FlagSet, value **PointInTime, name, usage string) {
	fs.Var(&optional[PointInTime]{value: value, kind: "time", read: ParsePointInTime}, name, usage)
}

// ParsePointInTime reads a duration before now, a date (its start in UTC) or a time.
func ParsePointInTime(text string) (PointInTime, error) {
	if d, ok := words.ParseDuration(text); ok {
		return PointInTime{Ago: d}, nil
	}
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if t, err := time.Parse(layout, text); err == nil && !t.IsZero() {
			return PointInTime{Time: t}, nil
		}
	}
	return PointInTime{}, errors.New("not a time")
}

// optional is the value of a flag for which "not given" differs from every value.
type optional[T int | bool | time.Duration | PointInTime] struct {
	value **T
	read  func(string) (T, error)
	kind  string
}

func (o *optional[T]) Set(text string) error {
	v, err := o.read(text)
	if err != nil {
		return err
	}
	*o.value = &v
	return nil
}

func (o *optional[T]) String() string {
	if o.value == nil || *o.value == nil {
		return ""
	}
	switch v := any(**o.value).(type) {
	case int:
		return strconv.Itoa(v)
	case time.Duration:
		return v.String()
	case bool:
		return strconv.FormatBool(v)
	case PointInTime:
		if v.Time.IsZero() {
			return v.Ago.String()
		}
		return v.Time.Format(time.RFC3339)
	}
	return ""
}

func (o *optional[T]) Type() string { return o.kind }
