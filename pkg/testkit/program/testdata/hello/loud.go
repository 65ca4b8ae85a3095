//go:build loud

package main

const greeting = "HELLO"
