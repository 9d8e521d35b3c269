#!/usr/bin/env bash
# Measures FIX acceptors side by side; README.md says what is measured and how.
#
#   run.sh list                      the acceptors and their modes
#   run.sh build [NAME...]           builds the initiator and these (all without a name)
#   run.sh check [NAME[:MODE]...]    4,000 orders each: is every answer right, and does it wait as peers.list says?
#   run.sh measure [NAME[:MODE]...]  the measurement, and its tables
#   run.sh selftest                  does the initiator count wrong answers?
#   run.sh report FILE...            the tables of result files
set -u -o pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(dirname "$here")
target=${CARGO_TARGET_DIR:-$root/target}
mkdir -p "$target" && target=$(cd "$target" && pwd) || exit 1
export CARGO_TARGET_DIR=$target
out=$target/peers bin=$target/release interop=$target/interop
driver=$bin/peer-driver

acceptor_cores=${PEERS_ACCEPTOR_CORES:-0}
driver_core=${PEERS_DRIVER_CORE:-1}
rates=${PEERS_RATES:-2000,10000,50000}
secs=${PEERS_SECS:-5}
runs=${PEERS_RUNS:-3}
rounds=${PEERS_ROUNDS:-1}
warm_up=${PEERS_WARMUP:-30000}
ping_pong=${PEERS_PINGPONG:-50000}
flood=${PEERS_FLOOD:-200000}
max_run_secs=${PEERS_MAX_RUN_SECS:-15}
near_wait=${PEERS_NEAR_WAIT:-0}
java=${PEERS_JAVA:-java -XX:+UseSerialGC -Xms1g -Xmx1g -XX:+AlwaysPreTouch -XX:-UsePerfData}
artio="--add-opens java.base/sun.nio.ch=ALL-UNNAMED --add-opens java.base/jdk.internal.misc=ALL-UNNAMED
 --add-opens java.base/java.util.zip=ALL-UNNAMED --add-exports java.base/jdk.internal.misc=ALL-UNNAMED
 -Dagrona.disable.bounds.checks=true -Daeron.disable.bounds.checks=true"

die() { echo "run.sh: $*" >&2; exit 2; }
need() { command -v "$1" > /dev/null || die "$1 is missing: $2"; }
lines() { grep -v '^[[:space:]]*\(#\|$\)' "$here/peers.list"; }
names() { lines | cut -d'|' -f1 | tr -d ' '; }

# field NAME N: a column of peers.list.
field() {
  local text
  text=$(lines | awk -F'|' -v name="$1" -v n="$2" \
    '{ x = $1; gsub(/ /, "", x) } x == name { y = $n; gsub(/^ +| +$/, "", y); print y }')
  [ -n "$text" ] || die "no acceptor $1 (run.sh list)"
  printf '%s\n' "$text"
}

# ---- building ----

# older PRODUCT SOURCE...: whether it has to be built.
older() {
  local product=$1
  shift
  [ ! -e "$product" ] || [ -n "$(find "$@" -newer "$product" -type f | head -1)" ]
}

rust() { (cd "$here" && cargo build --release --quiet --locked -p "peer-$1"); }

# java_peer NAME POM LIBRARIES: fetches what the POM names.
libraries() {
  need mvn "apt-get install maven" && need javac "apt-get install openjdk-17-jdk-headless"
  mvn -q -B dependency:copy-dependencies -f "$1" -DoutputDirectory="$2"
}

# The program and the dictionary that come with this repository.
build_fixwire() {
  if [ -z "${FIXWIRE_BIN:-}" ]; then
    (cd "$root" && cargo build --release --quiet --locked) || return 1
    FIXWIRE_BIN=$bin/fixwire
  fi
  export FIXWIRE_BIN
}
find_dictionary() {
  need python3 "apt-get install python3"
  dictionary=$(cd "$root" && cargo metadata --format-version 1 --locked | python3 -c '
import json, os, sys
packages = json.load(sys.stdin)["packages"]
manifest = next(p["manifest_path"] for p in packages if p["name"] == "quickfix-tokio")
print(os.path.join(os.path.dirname(manifest), "acceptance/spec/FIX42.xml"))') && [ -e "$dictionary" ]
}

build_quickfix_cpp() {
  older "$out/quickfix-cpp" "$here/quickfix-cpp" || return 0
  need g++ "apt-get install g++"
  [ -e /usr/include/quickfix/Session.h ] || die "QuickFIX C++ is missing: apt-get install libquickfix-dev"
  g++ -std=c++14 -O3 -w -DEXCEPTION_SPECIFICATIONS "$here/quickfix-cpp/acceptor.cpp" -o "$out/quickfix-cpp" -lquickfix -lpthread
}

# The C++ sources in the source package of QuickFIX for Python.
build_quickfix_cpp_16() {
  local version=1.16.0 folder=$out/quickfix-1.16.0 options=(-std=c++17 -O3 -w -D__cpp_noexcept_function_type)
  older "$out/quickfix-cpp-16" "$here/quickfix-cpp" || return 0
  need g++ "apt-get install g++" && need python3 "apt-get install python3-pip"
  if [ ! -e "$folder/libquickfix.a" ]; then
    mkdir -p "$folder/objects" "$folder/include"
    (cd "$folder" && python3 -m pip download -q --no-deps --no-binary quickfix "quickfix==$version" -d . &&
      tar xzf "quickfix-$version.tar.gz" --strip-components 1) || return 1
    ln -sfn "$folder/C++" "$folder/include/quickfix"
    # QuickfixPython and QuickfixRuby are glue for those languages.
    (cd "$folder/C++" && printf '%s\n' ./*.cpp | grep -v Quickfix |
      xargs -P "$(nproc)" -I{} g++ "${options[@]}" -I. -c {} -o "$folder/objects/{}.o") || return 1
    ar rcs "$folder/libquickfix.a" "$folder"/objects/*.o || return 1
  fi
  g++ "${options[@]}" -I"$folder/include" -I"$folder/C++" "$here/quickfix-cpp/acceptor.cpp" \
    -o "$out/quickfix-cpp-16" "$folder/libquickfix.a" -lpthread
}

# The same packages as those of the interoperability tests.
build_quickfixj() {
  local pom=$root/tests/interop/quickfixj/pom.xml
  older "$out/quickfixj/Acceptor.class" "$here/quickfixj" "$pom" || return 0
  libraries "$pom" "$interop/java/lib" &&
    javac -nowarn -d "$out/quickfixj" -cp "$interop/java/lib/*" "$here/quickfixj/Acceptor.java"
}

build_quickfixgo() {
  older "$out/quickfixgo" "$here/quickfixgo" || return 0
  need go "https://go.dev/dl"
  (
    export GOTOOLCHAIN=auto
    cd "$here/quickfixgo" && go build -buildvcs=false -o "$out/quickfixgo" . &&
      install -m 644 "$(go list -m -f '{{.Dir}}' github.com/quickfixgo/quickfix)/spec/FIX42.xml" "$out/quickfixgo.xml"
  )
}

build_philadelphia() {
  older "$out/philadelphia/classes/Acceptor.class" "$here/philadelphia" || return 0
  libraries "$here/philadelphia/pom.xml" "$out/philadelphia/lib" &&
    javac -nowarn -d "$out/philadelphia/classes" -cp "$out/philadelphia/lib/*" "$here/philadelphia/Acceptor.java"
}

# Its codecs are generated from a QuickFIX dictionary.
build_artio() {
  local folder=$out/artio
  older "$folder/classes/Acceptor.class" "$here/artio" || return 0
  mkdir -p "$folder/generated"
  libraries "$here/artio/pom.xml" "$folder/lib" || return 1
  # shellcheck disable=SC2086
  java $artio -Dfix.codecs.parent_package=peers.fix42 -cp "$folder/lib/*" \
    uk.co.real_logic.artio.dictionary.CodecGenerationTool "$folder/generated" "$dictionary" || return 1
  find "$folder/generated" -name '*.java' > "$folder/generated.list"
  javac -nowarn -d "$folder/classes" -cp "$folder/lib/*" "@$folder/generated.list" "$here/artio/Acceptor.java"
}

# build NAME...: each once; what cannot be built ends it.
build() {
  local name what done=" "
  mkdir -p "$out"
  find_dictionary || die "no FIX42.xml"
  echo "building the initiator" >&2
  rust driver || die "the initiator does not build"
  for name; do
    what=$(field "$name" 4) || exit 2
    [[ $done == *" $what "* ]] && continue
    done+="$what "
    echo "building $what" >&2
    if declare -F "build_${what//-/_}" > /dev/null; then "build_${what//-/_}"; else rust "$what"; fi ||
      die "$what does not build"
  done
}

# ---- measuring ----

acceptor=
# The initiator looks at the acceptor's processor time: does it spin?
watch=1
stop_acceptor() {
  [ -n "$acceptor" ] || return 0
  kill "$acceptor" 2> /dev/null
  for _ in $(seq 30); do kill -0 "$acceptor" 2> /dev/null || break; sleep 0.1; done
  kill -9 "$acceptor" 2> /dev/null
  wait "$acceptor" 2> /dev/null
  acceptor=
}
trap stop_acceptor EXIT
trap 'exit 130' INT TERM

free_port() {
  local port
  for _ in $(seq 50); do
    port=$((20000 + RANDOM % 9000))
    (exec 3<> "/dev/tcp/127.0.0.1/$port") 2> /dev/null || { echo "$port"; return; }
  done
  die "no free port"
}

distance() { "$driver" distance --core "$driver_core" --other "${acceptor_cores%%,*}"; }
near() { # The host may yet put the two cores together.
  local until=$((SECONDS + near_wait))
  while [ $SECONDS -lt $until ] && [ "$(distance)" -ge 150 ]; do sleep 1; done
}

# run_one FILE NAME MODE OPTION...: adds the initiator's lines to the file and prints them.
run_one() {
  local file=$1 name=$2 mode=$3 port folder code text waits command
  shift 3
  waits=$(field "$name" 3) || exit 2
  port=$(free_port)
  folder=$out/run/$name-$mode-$port
  mkdir -p "$folder"
  text=$(field "$name" 6) || exit 2
  text=${text//'{java}'/$java} text=${text//'{artio}'/$artio} text=${text//'{out}'/$out} text=${text//'{bin}'/$bin}
  text=${text//'{interop}'/$interop} text=${text//'{here}'/$here} text=${text//'{dictionary}'/$dictionary}
  text=${text//'{port}'/$port} text=${text//'{mode}'/$mode} text=${text//'{dir}'/$folder}
  set -f
  # shellcheck disable=SC2206
  command=($text)
  set +f
  near
  # taskset executes: the process is the acceptor's own.
  taskset -c "$acceptor_cores" "${command[@]}" > "$folder/acceptor.log" 2>&1 &
  acceptor=$!
  taskset -c "$driver_core" timeout 400 "$driver" fix --port "$port" --peer "$name" --mode "$mode" --waits "$waits" \
    ${watch:+--pid "$acceptor"} --core "$driver_core" "$@" 2> "$folder/driver.log" | tee -a "$file" | python3 "$here/report.py" --live
  code=${PIPESTATUS[0]}
  if [ "$code" -ne 0 ]; then
    echo "run.sh: $name:$mode ended with $code" >&2
    tail -5 "$folder/driver.log" "$folder/acceptor.log" >&2
  fi
  stop_acceptor
  rm -rf "$folder"
  return "$code"
}

# pairs NAME[:MODE]...: each as NAME:MODE.
pairs() {
  local word mode
  for word; do
    case $word in
      *:*) echo "$word" ;;
      *) for mode in $(field "$word" 2 | tr ',' ' '); do echo "$word:$mode"; done ;;
    esac
  done
}

check() {
  local pair options failed=0 passed=0
  for pair in $(pairs "$@"); do
    options=(--ping-pong 2000 --flood 2000 --window 16 --batch 4 --max-run-secs 60)
    [[ $(field "${pair%%:*}" 5) != *--no-reset* ]] || options+=(--no-reset)
    if run_one /dev/null "${pair%%:*}" "${pair#*:}" "${options[@]}" > /dev/null; then
      echo "ok   $pair"
      passed=$((passed + 1))
    else
      echo "BAD  $pair"
      failed=$((failed + 1))
    fi
  done
  echo "$passed passed, $failed failed"
  [ $failed -eq 0 ]
}

measure() {
  local file pair name options failed=0
  mkdir -p "$out/results"
  file=$out/results/$(date -u +%Y%m%dT%H%M%S).jsonl
  for _ in $(seq "$rounds"); do
    for pair in $(pairs "$@"); do
      name=${pair%%:*}
      options=$(field "$name" 5)
      case $options in *--warmup*) ;; *) options="${options#-} --warmup $warm_up" ;; esac
      # shellcheck disable=SC2086
      run_one "$file" "$name" "${pair#*:}" --other "${acceptor_cores%%,*}" --rates "$rates" --secs "$secs" --runs "$runs" \
        --ping-pong "$ping_pong" --flood "$flood" --max-run-secs "$max_run_secs" $options || failed=1
    done
  done
  echo "results: $file" >&2
  python3 "$here/report.py" "$file"
  return $failed
}

# Each fault of the floor must be counted: one in a thousand of 5,000 answers.
selftest() {
  local file=$out/selftest.jsonl fault errors failed=0 watch=
  for fault in none bad-clordid bad-checksum bad-seq bad-drop; do
    : > "$file"
    run_one "$file" raw "$fault" --ping-pong 5000 --max-run-secs 20 > /dev/null 2>&1
    errors=$(python3 -c 'import json, sys; print(sum(json.loads(line)["errors"] for line in sys.stdin))' < "$file")
    # A dropped answer leaves the run waiting.
    case $fault in none) least=0 most=0 ;; bad-drop) least=1 most=5000 ;; *) least=5 most=5000 ;; esac
    if [ "$errors" -ge $least ] && [ "$errors" -le $most ]; then
      echo "ok   $fault: $errors errors counted"
    else
      echo "BAD  $fault: $errors errors counted, expected $least to $most"
      failed=1
    fi
  done
  return $failed
}

verb=${1:-help}
[ $# -gt 0 ] && shift
case $verb in
  build | check | measure)
    [ $# -gt 0 ] || mapfile -t all < <(names)
    [ $# -gt 0 ] || set -- "${all[@]}"
    build "${@%%:*}"
    [ "$verb" = build ] || "$verb" "$@"
    ;;
  list) lines | awk -F'|' '{ print $1, $3, $2 }' ;;
  selftest) build raw && selftest ;;
  report) python3 "$here/report.py" "$@" ;;
  *) sed -n '2,9p' "${BASH_SOURCE[0]}" | sed 's/^# \{0,1\}//' ;;
esac
