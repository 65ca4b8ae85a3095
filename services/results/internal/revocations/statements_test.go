package revocations

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A statement that revokes keys is known by its beginning, and ends in its conditions.
func TestEveryStatementThatRevokesKeysIsRecorded(t *testing.T) {
	t.Parallel()
	revoking := regexp.MustCompile("SET revoked_at = [^`]*`")
	for _, folder := range []string{"keys", "members"} {
		files, err := filepath.Glob("../" + folder + "/*.go")
		if err != nil || len(files) == 0 {
			t.Fatalf("%d files, %v", len(files), err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, at := range revoking.FindAllIndex(text, -1) {
				begin, end := bytes.LastIndexByte(text[:at[0]], '`'), string(text[at[0]:at[1]])
				statement := string(text[begin+1 : at[1]])
				if strings.Contains(end, "SET revoked_at = revoked_at") {
					continue // it locks the key
				}
				if !strings.HasPrefix(statement, revokes) || strings.Contains(end, "RETURNING") {
					t.Errorf("%s: %s", file, statement)
				}
			}
		}
	}
}
