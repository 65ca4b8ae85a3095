package service

import (
	"strings"

	"github.com/prism-results/prism/pkg/prism"
)

// The problems of labels (spec: label-value).
const (
	textUnknownQuestion = "Unknown question"
	shownKeys           = 20
)

// yesNo are the texts that stand for the values of a yes_no question.
var yesNo = map[string]string{"true": "true", "yes": "true", "1": "true", "false": "false", "no": "false", "0": "false"}

// labelValue is the value of a question that a text stands for, or the problem if there is none (spec: label-value).
func labelValue(q prism.Question, text string) (value, problem string) {
	text = strings.TrimSpace(text)
	if q.Type == prism.YesNo {
		if value = yesNo[strings.ToLower(text)]; value == "" {
			problem = "Expected 'true' | 'false'"
		}
		return value, problem
	}
	keys, labels := q.AnswerKeys(), answerLabels(q)
	for i, key := range keys {
		switch {
		case key == text:
			return key, ""
		case strings.TrimSpace(labels[i]) != text:
		case value == "":
			value = key
		default:
			problem = expectedKeys(keys) // several have the label
		}
	}
	if problem == "" && value == "" {
		problem = expectedKeys(keys)
	}
	if problem != "" {
		return "", problem
	}
	return value, ""
}

// answerLabels are the labels of the options or levels, in the order of their keys.
func answerLabels(q prism.Question) (labels []string) {
	for _, o := range q.Choices() {
		labels = append(labels, o.Label)
	}
	for _, l := range q.Levels {
		labels = append(labels, l.Label)
	}
	return labels
}

func expectedKeys(keys []string) string {
	shown := "Expected '" + strings.Join(keys[:min(len(keys), shownKeys)], "' | '") + "'"
	if len(keys) > shownKeys {
		shown += " | …"
	}
	return shown
}
