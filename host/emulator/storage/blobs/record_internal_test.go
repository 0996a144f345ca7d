package blobs

import (
	"math/rand/v2"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// Every field of a record comes back, whatever is in it, and no shortened record
// can be read.
func TestRecordsComeBack(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var want, got blobRecord
		fill(random, reflect.ValueOf(&want).Elem())
		fill(random, reflect.ValueOf(&want.blobKey).Elem())
		value := want.append(nil)
		if !got.parse(value) {
			t.Fatalf("%+v cannot be read", want)
		}
		if diff := cmp.Diff(got, want, cmp.AllowUnexported(blobRecord{})); diff != "" {
			t.Fatalf("(-got +want):\n%s", diff)
		}
		for n := range value {
			if new(blobRecord).parse(value[:n]) {
				t.Fatalf("the first %d of %d bytes can be read", n, len(value))
			}
		}
	}

	for _, segments := range [][]segment{
		{{Body: "v1", Size: 1 << 40, Block: "AAAA"}, {Body: "f2", Size: 3}},
		{{Body: "v1", Size: 512}, {Body: "f2", Size: 1024, At: 1 << 40, Skip: 512}},
	} {
		value := appendSegments(nil, segments)
		if got, ok := parseSegments(value); !ok || !cmp.Equal(got, segments) {
			t.Errorf("segments = %+v, %v", got, ok)
		}
		for n := range value {
			if _, ok := parseSegments(value[:n]); ok {
				t.Errorf("%d bytes of segments can be read", n)
			}
		}
	}
	account := accountRecord{LastETag: 1 << 63, IDs: 300, LastBody: 7}
	var got accountRecord
	if !got.parse(account.append(nil)) || !cmp.Equal(got, account) {
		t.Errorf("account = %+v", got)
	}
}

// fill sets every field of a value to something, or leaves it as it is.
func fill(random *rand.Rand, v reflect.Value) {
	if random.IntN(4) == 0 {
		return
	}
	if t, ok := v.Addr().Interface().(*time.Time); ok {
		*t = time.Unix(random.Int64N(1<<40)-1<<39, random.Int64N(1e9)).UTC()
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(random, v.Field(i))
			}
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(random, v.Elem())
	case reflect.String:
		v.SetString(strings.Repeat("ä", random.IntN(200)))
	case reflect.Int, reflect.Int64:
		v.SetInt(random.Int64() - 1<<62)
	case reflect.Uint64:
		v.SetUint(random.Uint64())
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Slice:
		v.SetBytes(make([]byte, random.IntN(20)))
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for i := range random.IntN(5) {
			v.SetMapIndex(reflect.ValueOf(strconv.Itoa(i)), reflect.ValueOf("value"))
		}
	default:
		panic("a field of kind " + v.Kind().String())
	}
}
