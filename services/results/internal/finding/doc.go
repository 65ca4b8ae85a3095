// Package finding says which results a search finds, and in which order. It reads the languages of q, where and sort, makes tokens of
// texts, and decides for one result. Both stores index what this package makes of a result, so they find the same ones.
package finding
