package modelproxy

import "testing"

func TestEverySettingThatIsWrongIsNamedAtOnce(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		cfg  Config
		want string
	}{
		{
			Config{Provider: "openai-chat"},
			"PRISM_MODEL_API_KEY: required by openai-chat's own host, unless PRISM_MODEL_BASE_URL names another (for example PRISM_MODEL_BASE_URL=http://127.0.0.1:8000/v1)\n" +
				"PRISM_MODEL_NAME: required by provider openai-chat (for example PRISM_MODEL_NAME=gpt-4.1-mini)",
		},
		{
			Config{Provider: "openai-chat", BaseURL: "localhost:8000", APIKey: "sk secret"},
			"PRISM_MODEL_API_KEY: holds a character at byte 2 that no header can carry\n" +
				"PRISM_MODEL_NAME: required by provider openai-chat (for example PRISM_MODEL_NAME=gpt-4.1-mini)\n" +
				"PRISM_MODEL_BASE_URL: must be an absolute http or https URL without user, query and fragment",
		},
	} {
		if s, err := New(c.cfg, Deps{}); err == nil || err.Error() != c.want || s != nil {
			t.Errorf("%+v: got %v", c.cfg, err)
		}
	}
}
