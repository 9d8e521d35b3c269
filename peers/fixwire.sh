#!/usr/bin/env bash
# fixwire as an acceptor: fixwire.sh PORT MODE DIR WAIT
# MODE persistent: journal in mapped memory (the default) and validation; memory: neither. WAIT: block (the default) or spin.
# FIXWIRE_BIN names the program.
set -eu
port=$1 mode=$2 dir=$3 wait=$4
case $mode in
  persistent) durability=process dictionary=Y ;;
  memory) durability=memory dictionary=N ;;
  *) echo "fixwire has no mode $mode here" >&2; exit 2 ;;
esac
cat > "$dir/acceptor.cfg" << EOF
[DEFAULT]
Dialect=fixwire
ConnectionType=acceptor
SocketAcceptAddress=127.0.0.1
SocketAcceptPort=$port
FileStorePath=$dir/store
NonStopSession=Y
UseDataDictionary=$dictionary
Durability=$durability
Wait=$wait

[SESSION]
BeginString=FIX.4.2
SenderCompID=EXEC
TargetCompID=BENCH
EOF
# The published report. A fixwire from before there was `bench` sends it as `echo`.
app='echo'
if "$FIXWIRE_BIN" run --help | grep -q -- '- bench:'; then app=bench; fi
exec "$FIXWIRE_BIN" run --app "$app" "$dir/acceptor.cfg"
