package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// fileWait is how long a small file may take to be read, on a machine that does much else.
const fileWait = 2 * time.Minute

var (
	noFile       = fail{404, "not_found", "File not found"}
	fileNotReady = fail{409, "conflict", "This file is not ready."}
)

// file is a file as the API shows it.
type file struct {
	ID      string
	Status  string
	Error   *string
	Missing []int
	Rows    int64

	CreatedAt time.Time `json:"created_at"`
	ExpiresAt time.Time `json:"expires_at"`

	Columns []struct {
		Name            string
		Filled, Longest int64
	}
}

func (r reply) file(t *testing.T, status int) (f file) {
	t.Helper()
	r.wantStatus(t, status)
	if err := json.Unmarshal(r.body, &f); err != nil {
		t.Fatalf("%v: %s", err, r.body)
	}
	return f
}

// part sends a part of a file.
func (c *client) part(t *testing.T, id string, n int, content string) reply {
	t.Helper()
	return c.do(t, call{
		method: http.MethodPut, path: fmt.Sprintf("/v1/files/%s/parts/%d", id, n), body: content, contentType: "application/octet-stream",
	})
}

// newFile begins an upload.
func (c *client) newFile(t *testing.T, format string, bytes int) file {
	t.Helper()
	for {
		if r := c.post(t, "/v1/files", fmt.Sprintf(`{"name":"a file","format":%q,"bytes":%d}`, format, bytes)); !r.late() {
			return r.file(t, 201)
		}
	}
}

// upload sends a file of one part, and waits until it was read.
func (c *client) upload(t *testing.T, format, content string) file {
	t.Helper()
	f := c.newFile(t, format, len(content))
	c.part(t, f.ID, 1, content).wantStatus(t, 200)
	c.post(t, "/v1/files/"+f.ID+"/complete", "").file(t, 202)
	return c.whenRead(t, f.ID)
}

// whenRead waits until a file was read.
func (c *client) whenRead(t *testing.T, id string) (f file) {
	t.Helper()
	ticks := time.NewTicker(20 * time.Millisecond)
	defer ticks.Stop()
	for began := time.Now(); time.Since(began) < fileWait; <-ticks.C {
		if f = c.get(t, "/v1/files/"+id).file(t, 200); f.Status == "ready" || f.Status == "unusable" {
			return f
		}
	}
	t.Fatalf("the file is still %s", f.Status)
	return f
}

// TestFiles holds the calls on files.
func TestFiles(t *testing.T) {
	onEach(t, func(t *testing.T, s *stack) {
		// spec: file-requests
		t.Run("an upload tells what is missing, and is read when it is complete", func(t *testing.T) {
			t.Parallel()
			own := s.ownAccount(t)
			content := "message,n\r\n" + strings.Repeat("a message of some length that fills the part,7\r\n", 23_000)
			const partBytes = 1 << 20
			f := own.newFile(t, "csv", len(content))
			if f.Status != "uploading" || len(f.Missing) != 2 {
				t.Fatalf("got %+v", f)
			}
			path := "/v1/files/" + f.ID
			own.post(t, path+"/complete", "").wantFail(t, fail{409, "conflict", "Parts are missing: 1, 2."})
			own.get(t, path+"/rows").wantFail(t, fileNotReady)
			own.part(t, f.ID, 2, content[partBytes:]).wantStatus(t, 200)
			own.part(t, f.ID, 2, content[partBytes:]).wantStatus(t, 200)
			own.part(t, f.ID, 2, strings.Repeat("x", len(content)-partBytes)).wantFail(t, fail{409, "conflict", "Part 2 was already sent with other content."})
			if f = own.get(t, path).file(t, 200); len(f.Missing) != 1 || f.Missing[0] != 1 {
				t.Errorf("got %+v", f)
			}
			own.part(t, f.ID, 1, content[:partBytes]).wantStatus(t, 200)
			own.post(t, path+"/complete", "").file(t, 202)
			own.delete(t, path).wantStatus(t, 204)
			own.get(t, path).wantFail(t, noFile)
		})
		t.Run("a preview has the rows as objects in column order", func(t *testing.T) {
			t.Parallel()
			own := s.ownAccount(t)
			f := own.upload(t, "csv", "z,a\r\n1,2\r\n,\"x\ny\"\r\n")
			if f.Status != "ready" || f.Rows != 2 || len(f.Columns) != 2 || f.Columns[0].Name != "z" || f.Columns[0].Filled != 1 || f.Columns[1].Longest != 3 {
				t.Errorf("got %+v", f)
			}
			own.get(t, "/v1/files/"+f.ID+"/rows").wantBody(t, `{"data":[{"z":"1","a":"2"},{"z":"","a":"x\ny"}]}`)
			own.get(t, "/v1/files/"+f.ID+"/rows?offset=1&limit=1").wantBody(t, `{"data":[{"z":"","a":"x\ny"}]}`)
			own.get(t, "/v1/files").wantStatus(t, 200)
		})
		t.Run("a file that cannot be read says why, with the line", func(t *testing.T) {
			t.Parallel()
			own := s.ownAccount(t)
			f := own.upload(t, "csv", "a,b\r\n1,2\r\n1,2,3\r\n")
			if f.Status != "ready" || f.Rows != 2 {
				t.Errorf("got %+v", f)
			}
			own.post(t, "/v1/files/"+f.ID+"/read", `{"on_bad_row":"refuse"}`).file(t, 202)
			if f = own.whenRead(t, f.ID); f.Status != "unusable" || *f.Error != "Line 3: 3 cells, but the header has 2." {
				t.Errorf("got %+v", f)
			}
		})
		t.Run("files of another account are not found", func(t *testing.T) {
			t.Parallel()
			f := s.ownAccount(t).upload(t, "jsonl", `{"a":"x"}`)
			other := s.ownAccount(t)
			for _, path := range []string{"", "/rows"} {
				other.get(t, "/v1/files/"+f.ID+path).wantFail(t, noFile)
			}
			other.part(t, f.ID, 1, "x").wantFail(t, noFile)
			other.post(t, "/v1/files/"+f.ID+"/complete", "").wantFail(t, noFile)
			other.delete(t, "/v1/files/"+f.ID).wantFail(t, noFile)
		})
		// spec: open-uploads
		t.Run("an account has at most twenty open uploads", func(t *testing.T) {
			t.Parallel()
			own := s.ownAccount(t)
			var f file
			for range 20 {
				f = own.newFile(t, "csv", 1)
			}
			more := func() reply { return own.post(t, "/v1/files", `{"name":"a file","format":"csv","bytes":1}`) }
			more().wantFail(t, fail{409, "conflict", "This account has 20 open uploads. Complete or delete one of them."})
			s.ownAccount(t).newFile(t, "csv", 1)
			own.delete(t, "/v1/files/"+f.ID).wantStatus(t, 204)
			more().file(t, 201)
		})
		// spec: file-expiry
		t.Run("an upload expires after a day", func(t *testing.T) {
			t.Parallel()
			f := s.ownAccount(t).newFile(t, "csv", 1)
			if left := f.ExpiresAt.Sub(f.CreatedAt); left != 24*time.Hour {
				t.Errorf("it expires after %s", left)
			}
		})
		// spec: part-body
		t.Run("a part is bytes, up to 1 MiB", func(t *testing.T) {
			t.Parallel()
			f := s.main.newFile(t, "csv", 2<<20)
			path := "/v1/files/" + f.ID + "/parts/1"
			s.main.part(t, f.ID, 1, strings.Repeat("\x00", 1<<20)).wantStatus(t, 200)
			s.main.part(t, f.ID, 2, strings.Repeat("x", 1<<20+1)).wantFail(t, bodyTooLarge)
			s.main.do(t, call{method: http.MethodPut, path: path, body: "{}"}).wantFail(t, unparsedType)
			s.main.do(t, call{method: http.MethodPut, path: path, body: "x", contentType: none}).wantFail(t, unparsedType)
			s.main.do(t, call{method: http.MethodPut, path: path, contentType: "application/octet-stream"}).wantFail(t, invalid("body: Required"))
			s.main.part(t, "1", 0, "x").wantFail(t, invalid("file_id: Invalid uuid; n: Number must be greater than or equal to 1"))
		})
	}, spread)
}
