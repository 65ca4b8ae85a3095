//go:build !loud

package main

const greeting = "hello"
