#!/usr/bin/env bash
# An S3-compatible server: S3Proxy (Apache-2.0) over a plain folder.
# Path-style addresses; key "firn", secret "firn-secret"; the bucket "lake" is there from the start.
name=s3
source "$(dirname "$0")/process.sh"

install_server() {
  need_command curl curl
  install_jars
}

# Any HTTP status will do: without a signature the server answers 403.
answers() { [[ $(curl --silent --output /dev/null --write-out '%{http_code}' "http://127.0.0.1:$1/") != 000 ]]; }

start_server() {
  local data="$state/s3/data" settings="$state/s3/s3proxy.properties"
  mkdir -p "$data/lake" # a folder is a bucket
  cat >"$settings" <<EOF
s3proxy.endpoint=http://127.0.0.1:$1
s3proxy.authorization=aws-v2-or-v4
s3proxy.identity=firn
s3proxy.credential=firn-secret
# Such as session tokens, which this server does not check.
s3proxy.ignore-unknown-headers=true
jclouds.provider=filesystem-nio2
jclouds.filesystem.basedir=$data
EOF
  launch "$1" java -Xmx512m -XX:TieredStopAtLevel=1 -DLOG_LEVEL=WARN \
    -cp "$downloads/s3/jars/*" org.gaul.s3proxy.Main --properties "$settings"
}

run_command 27071 "$@"
