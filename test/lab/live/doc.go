// Command live answers questions with a real model behind Prism: llama.cpp's HTTP server with the weights of
// SmolLM2-135M-Instruct, and LiteLLM's proxy in front of that server as a second upstream. It prints a table of accuracy,
// label mass, tokens, times and what went wrong. `make live` installs both servers and runs it.
//
// The model is the smallest that a package index ships, so that two cores answer in time. It shows that the provider
// openai-chat works with servers that nobody here wrote; how right its answers are says nothing about Prism.
package main
