// Command bench measures Prism beside a server that a user would write instead (peer) and beside a bare chain of servers
// that does nothing but hop, select, insert and lock (internal/bare). All systems run the same calls in the same rounds on
// the same machine; the ratio within a round is what counts, because the speed of a machine varies.
//
//	make bench                                       everything; tables and pictures into docs/performance.md
//	make bench-smoke                                 the same for a moment, to keep the benchmark working
//	go run ./test/lab/bench -rows large              the growth of each process by a file of 5 GiB; 20 minutes and 22 GB of disk
//	go run ./test/lab/bench -against ../other/bin    two builds of Prism in interleaved rounds
//
// Each system has a database of its own on one Postgres that waits for its disk. The load generator (test/internal/load) and
// the scripted model (internal/model) are this process, and compete with the systems for the same processors.
package main
