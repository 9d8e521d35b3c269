#!/usr/bin/env bash
# Builds and starts the acceptors of peers.list, for `fixwire bench peers`, which measures them.
#
#   run.sh build [NAME...]           builds these (all without a name); reports the package of what is missing
#   run.sh start NAME MODE PORT DIR  executes one, with its files in that folder
set -u -o pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(dirname "$here")
target=${CARGO_TARGET_DIR:-$root/target}
mkdir -p "$target" && target=$(cd "$target" && pwd) || exit 1
export CARGO_TARGET_DIR=$target
out=$target/peers bin=$target/release interop=$target/interop

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
  [ -n "$text" ] || die "no acceptor $1 in peers.list"
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

# libraries POM FOLDER: fetches what the POM names.
libraries() {
  need mvn "apt-get install maven" && need javac "apt-get install openjdk-17-jdk-headless"
  mvn -q -B dependency:copy-dependencies -f "$1" -DoutputDirectory="$2"
}

# That of a peer's package, for all that want one.
dictionary=$out/FIX42.xml
find_dictionary() {
  local found
  need python3 "apt-get install python3"
  found=$(cd "$root" && cargo metadata --format-version 1 --locked | python3 -c '
import json, os, sys
packages = json.load(sys.stdin)["packages"]
manifest = next(p["manifest_path"] for p in packages if p["name"] == "quickfix-tokio")
print(os.path.join(os.path.dirname(manifest), "acceptance/spec/FIX42.xml"))') && [ -e "$found" ] && ln -sfn "$found" "$dictionary"
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
  for name; do
    what=$(field "$name" 4) || exit 2
    [[ $what == - || $done == *" $what "* ]] && continue
    done+="$what "
    echo "building $what" >&2
    if declare -F "build_${what//-/_}" > /dev/null; then "build_${what//-/_}"; else rust "$what"; fi ||
      die "$what does not build"
  done
}

# start NAME MODE PORT DIR: becomes the acceptor.
start() {
  local name=$1 mode=$2 port=$3 folder=$4 text
  text=$(field "$name" 6) || exit 2
  text=${text//'{java}'/$java} text=${text//'{artio}'/$artio} text=${text//'{out}'/$out} text=${text//'{bin}'/$bin}
  text=${text//'{interop}'/$interop} text=${text//'{here}'/$here} text=${text//'{dictionary}'/$dictionary}
  text=${text//'{port}'/$port} text=${text//'{mode}'/$mode} text=${text//'{dir}'/$folder}
  set -f
  # shellcheck disable=SC2086
  exec $text
}

verb=${1:-help}
[ $# -gt 0 ] && shift
case $verb in
  build)
    [ $# -gt 0 ] || mapfile -t all < <(names)
    [ $# -gt 0 ] || set -- "${all[@]}"
    build "$@"
    ;;
  start) [ $# -eq 4 ] && start "$@" ;;
  *) sed -n '2,5p' "${BASH_SOURCE[0]}" | sed 's/^# \{0,1\}//' ;;
esac
