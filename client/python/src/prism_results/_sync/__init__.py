# Written by generate.py; do not edit.
