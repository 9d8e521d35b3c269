#!/usr/bin/env bash
# Writes the first inputs of the corpus that no editor can: steps of a session, edits of a journal.
# The others are text. Inputs that fuzzing found keep the names that they were given then.
set -eu
cd "$(dirname "${BASH_SOURCE[0]}")/corpus"

bytes() { # FILE NUMBER...
  local file=$1 number
  shift
  for number; do printf '%b' "\\x$(printf %02x "$number")"; done > "$file"
}

# Version, switches, more; then 11 connect, 6 Logon (how, spoil), 0 message (which, place, spoil),
# 10 time, 13 application message, 14 Logout or reset, 12 connection lost.
up="11 6 0 0"
bytes session/gap 0 0 0 $up 0 9 0 0 0 9 2 0 0 9 0 0 0 9 0 0 0 9 0 0
bytes session/gap-44-dictionary 4 2 0 $up 0 9 0 0 0 9 2 0 0 9 6 0 0 9 0 0 0 9 0 0
bytes session/chunks 2 4 0 $up 0 9 59 0 0 9 0 0 0 9 0 0 0 9 0 0 0 9 0 0 0 6 0 0
bytes session/resend 4 0 0 $up 13 1 13 2 0 3 0 0 0 2 0 0 0 4 2 0 0 1 0 0
bytes session/resend-hold-down 2 0 0 $up 13 1 0 3 0 0 0 3 0 0 0 3 0 0 0 3 0 0 0 3 0 0
bytes session/heartbeats 4 0 0 $up 10 255 0 0 0 0 10 255 10 255 10 255
bytes session/rejected-request 2 0 0 $up 0 9 2 0 0 69 6 0 0 85 6 0 0 9 6 0
bytes session/initiator 4 1 0 11 6 0 0 13 7 0 9 0 0 14 0 0 8 0 0
bytes session/initiator-fixt 5 3 0 11 6 0 0 0 9 0 0 14 1 6 4 0
bytes session/reset-asked 3 0 0 $up 13 1 14 1 6 4 0 0 9 0 0
bytes session/reset-of-peer 4 0 0 $up 0 9 0 0 6 6 0 0 9 0 0
bytes session/next-expected 4 8 0 $up 13 1 13 2 12 11 6 200 0 0 9 0 0
bytes session/wrong-headers 4 2 0 $up 0 9 0 4 12 11 6 0 1 11 6 0 9 11 6 0 11 11 6 0 0 0 9 0 11
bytes session/poss-dup 4 0 0 $up 0 9 0 5 0 9 4 5 0 9 4 6 11 6 0 0 0 9 4 7
bytes session/hostile-numbers 4 0 0 $up 0 9 7 0 0 9 15 0 0 7 0 0 0 9 23 0 0 6 31 0
bytes session/refused 4 2 0 $up 0 9 0 0 15 0 0 9 0 0 15 3 0 10 0 0 9 12

# 1 a journal (2: disk); records, each with its kind and length; edits: how, segment, place, more.
records="12 64 9 65 40 128 80 2 0 64 9 129 200 4 0 5 0 192 30 64 255 65 255 128 90"
bytes journal/whole 1 $records
bytes journal/only-logged 1 9 64 9 6 30 7 9 8 9 9 9 64 9 41 0 40 40 65 9 0 0 70 0 1
bytes journal/flip-first 1 $records 0 0 70 0 1
bytes journal/flip-later 3 $records 0 0 0 3 1
bytes journal/zeros 3 $records 3 0 0 2 9
bytes journal/cut 1 $records 5 1 0 8
bytes journal/exchanged 1 $records 6 0 0 0 0
bytes journal/missing 1 $records 135 0 0 0 0
bytes journal/header 1 $records 0 1 20 0 1
# 0 a segment: salt, mend; then records: length, checksum, index, time, synced, session, kind and effects.
record() { echo "$1 0 0 0 0 0 0 0 $2 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 $3 0 $4 0 1 0 0 0 0 0 0 0 1 0 0 0 0 0 0 0 0 0 0 0 $5 0 0 0"; }
bytes journal/segment-session 0 7 1 $(record 72 0 3 0 3) 65 66 67 0 0 0 0 0
bytes journal/segment-effects 0 7 3 $(record 72 0 2 0 3) 65 66 67 0 0 0 0 0 $(record 104 0 0 1 8) 1 2 3 4 5 6 7 8 0 0 0 0 8 0 0 0 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 1 2 3 4 5 6 7 8
bytes journal/segment-resent 0 7 3 $(record 72 0 2 0 3) 65 66 67 0 0 0 0 0 $(record 104 0 10 0 40) 3 0 0 0 0 0 0 0 1 0 0 0 0 0 0 0 1 0 0 0 0 0 0 0 64 0 0 0 1 0 0 0 0 0 0 0 0 0 0 0
bytes journal/segment-noise 0 7 0 1 2 3 4 5 6 7 8
# Settings; then 0 and 1 a frame (layout, length and bytes), 2 bytes, 3 time, 4 and 132 a message sent, 5 connect,
# 6 connection lost, 7 everything under way arrives.
bytes tmp/login 13 132 132 132 132 132 132 132 132 132 132 5 7 4 132 7 6 132 5 7 4 7 3 255 127 3 255 127 7
bytes tmp/flood 34 5 7 4 4 4 4 4 7 128 8 0 128 8 0 128 8 0 3 255 255 7 5 7 3 255 127 7
bytes tmp/frames 0 5 7 129 10 0 129 12 0 128 30 3 0 0 0 128 3 0 2 19 0 16 0 0 0 0 0 0 0 0 0 0 20 0 0 0 0 0 36
