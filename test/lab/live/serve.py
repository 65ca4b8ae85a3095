"""Serves a model with llama.cpp's own HTTP server: python serve.py MODEL.gguf PORT"""

import os
import signal
import sys

import xllamacpp

params = xllamacpp.CommonParams()
params.model.path = sys.argv[1]
params.hostnames = ["127.0.0.1"]
params.port = int(sys.argv[2])
params.n_ctx = 4096
params.n_parallel = 1
params.cpuparams.n_threads = os.cpu_count() or 1
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
signal.sigwait([signal.SIGINT, signal.SIGTERM])
