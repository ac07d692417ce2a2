#!/bin/sh
# Replaces the nodes of docker-compose.yml one after the other by what the file and the images say now, each when all of them are
# ready; then the guard, and the balancer if it has changed. To be run where `docker compose` is, with the same variables.
#
#   deploy/docker/upgrade.sh
#
# Exit code 1 when a node is not ready; nothing more is replaced then, and the same command may be given again.
set -eu

NODES='node0 node1 node2'
WAIT_S=${ALTHING_UPGRADE_WAIT_S:-120}

fail() {
  echo "upgrade: $*" >&2
  exit 1
}

[ $# -eq 0 ] || fail 'usage: upgrade.sh'

# Whether a node votes everywhere and has caught up.
is_ready() {
  docker compose exec -T "$1" node /app/deploy/docker/healthcheck.mjs >/dev/null 2>&1
}

all_ready() {
  end=$(($(date +%s) + WAIT_S))
  for each in $NODES; do
    until is_ready "$each"; do
      [ "$(date +%s)" -lt "$end" ] || fail "$each is not ready, so no other node is stopped; see docs/operations.md"
      sleep 1
    done
  done
}

# What an interrupted `up` left: a guard that was made and not started, which each `up` would put into the place of the one that runs.
docker compose rm -f guard

# Not `up --no-deps`: some versions of Compose take what was made by it for changed at the next plain `up`.
for node in $NODES; do
  all_ready
  echo "upgrade: $node"
  docker compose rm -sf "$node"
  docker compose up -d --no-recreate --wait "$node"
done
all_ready

# It does not end by itself while nodes run.
docker compose kill guard >/dev/null 2>&1 || true
docker compose rm -f guard
docker compose up -d --no-recreate guard
docker compose up -d --wait lb
# Its configuration is a file, of which Compose knows no changes.
docker compose kill -s SIGUSR2 lb

if [ -n "$(docker compose ps -q more)" ]; then
  echo 'upgrade: nodes of "more" go on as they were: take them out one by one, and add new ones; see docs/docker.md'
fi
