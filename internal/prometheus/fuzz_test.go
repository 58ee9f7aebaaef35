package prometheus

import (
	"math"
	"testing"
)

// FuzzAnswer: an answer is series of finite numbers, or an error.
func FuzzAnswer(f *testing.F) {
	f.Add([]byte(`{"status":"success","data":{"resultType":"vector","result":[{"metric":{"pod":"a"},"value":[1.5,"2.25"]},{"metric":null,"value":[1,"NaN"]}]}}`))
	f.Add([]byte(`{"status":"success","data":{"resultType":"matrix","result":[null,{"values":[[0,"1"],[1e300,"2"],null]}]}}`))
	f.Add([]byte(`{"status":"error","error":"x"}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		refusal("400 Bad Request", body)
		series, err := decode(body)
		for _, s := range series {
			for _, p := range s.Points {
				if err != nil || math.IsNaN(p.Value) || math.IsInf(p.Value, 0) {
					t.Errorf("%+v, %v", p, err)
				}
			}
		}
	})
}
