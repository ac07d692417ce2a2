#!/bin/sh
# Replaces the nodes of docker-compose.yml one after the other by what the file and the images say now, each when all others are
# ready; then the guard, and the balancer if it has changed. To be run where `docker compose` is, with the same variables.
# A node that is not ready is the first: after an image or a setting with which none starts, the same command takes it back.
#
#   deploy/docker/upgrade.sh
#
# Exit code 1 when a node is not ready (nothing more is replaced then, and the same command may be given again), or when a node
# was stopped that this script did not replace.
#
# Every `up` says --no-recreate, which in no version of Compose stops a container. Without it some versions make everything
# again that depends on something changed, and an ended container counts, as those of `secrets` and `certs` with the old image.
set -eu

NODES='node0 node1 node2'
WAIT_S=${ALTHING_UPGRADE_WAIT_S:-120}
# The oldest Compose, as MAJOR MINOR, that this is written for: that of Debian 13.
COMPOSE_MAJOR=2
COMPOSE_MINOR=26

fail() {
  echo "upgrade: $*" >&2
  exit 1
}

check_version() {
  version=$(docker compose version --short) || fail 'there is no "docker compose" here'
  numbers=${version#v}
  major=${numbers%%.*}
  rest=${numbers#*.}
  minor=${rest%%.*}
  case $major$minor in
    '' | *[!0-9]*) fail "Docker Compose says that its version is \"$version\", which is no version" ;;
  esac
  [ "$major" -gt "$COMPOSE_MAJOR" ] || { [ "$major" -eq "$COMPOSE_MAJOR" ] && [ "$minor" -ge "$COMPOSE_MINOR" ]; } ||
    fail "Docker Compose $version is too old: $COMPOSE_MAJOR.$COMPOSE_MINOR or newer is needed"
}

# Without its file the balancer would be made again without the port of the native protocol.
check_native() {
  if docker compose port lb 9200 >/dev/null 2>&1 && ! docker compose config lb | grep -q 'target: 9200'; then
    fail 'the balancer serves the native protocol, and docker-compose.native.yml is not among the files of this command:' \
      'write COMPOSE_FILE=docker-compose.yml:docker-compose.native.yml into the file .env'
  fi
}

# Whether a node votes everywhere and has caught up.
is_ready() {
  docker compose exec -T "$1" node /app/deploy/docker/healthcheck.mjs >/dev/null 2>&1
}

# Waits until all nodes are ready, or all but one.
ready_but() {
  end=$(($(date +%s) + WAIT_S))
  for each in $NODES; do
    [ "$each" != "$1" ] || continue
    until is_ready "$each"; do
      [ "$(date +%s)" -lt "$end" ] || fail "$each is not ready, so no other node is stopped; see docs/operations.md"
      sleep 1
    done
  done
}

# Container and start of each node but one.
starts_but() {
  for each in $NODES; do
    [ "$each" = "$1" ] || echo "$each $(docker compose ps -aq "$each" | xargs -r docker inspect -f '{{.Id}} {{.State.StartedAt}}')"
  done
}

#   undisturbed STARTS NODE    fails when a node but NODE was stopped since STARTS
undisturbed() {
  [ "$(starts_but "$2")" = "$1" ] ||
    fail "nodes were stopped that were to go on ($(docker compose version --short) of Docker Compose, or they ended by themselves):" \
      'requests may have failed. See "docker compose ps -a" and the logs'
}

# Whether the balancer runs with other settings or another image than it would get now.
lb_has_changed() {
  container=$(docker compose ps -aq lb)
  [ -n "$container" ] || return 1
  # Of all services: some versions leave out what a service depends on when it is asked for alone.
  wanted=$(docker compose config --hash '*' | sed -n 's/^lb //p')
  [ "$wanted" = "$(docker inspect -f '{{index .Config.Labels "com.docker.compose.config-hash"}}' "$container")" ] || return 0
  image=$(docker image inspect -f '{{.Id}}' "$(docker inspect -f '{{.Config.Image}}' "$container")") || return 1
  [ "$image" != "$(docker inspect -f '{{.Image}}' "$container")" ]
}

[ $# -eq 0 ] || fail 'usage: upgrade.sh'
check_version
check_native

# What an interrupted `up` left: a guard that was made and not started, which each `up` would put into the place of the one that
# runs. And what ran once, with the former image: the first `up` below runs it again, with the new one.
docker compose rm -fv guard
for once in $(docker compose config --services | grep -Ex 'secrets|certs'); do
  docker compose rm -fv "$once"
done

order=
for node in $NODES; do
  if is_ready "$node"; then order="$order $node"; else order="$node $order"; fi
done

# Not `up --no-deps`: some versions of Compose take what was made by it for changed at the next plain `up`.
for node in $order; do
  ready_but "$node"
  echo "upgrade: $node"
  starts=$(starts_but "$node")
  docker compose rm -sf "$node"
  docker compose up -d --no-recreate --wait "$node"
  undisturbed "$starts" "$node"
done
ready_but none
starts=$(starts_but none)

# It does not end by itself while nodes run.
docker compose kill guard >/dev/null 2>&1 || true
docker compose rm -fv guard
docker compose up -d --no-recreate guard
if lb_has_changed; then docker compose rm -sf lb; fi
docker compose up -d --no-recreate --wait lb
# Its configuration is a file, of which Compose knows no changes.
docker compose kill -s SIGUSR2 lb
undisturbed "$starts" none

if [ -n "$(docker compose ps -q more)" ]; then
  echo 'upgrade: nodes of "more" go on as they were: take them out one by one, and add new ones; see docs/docker.md'
fi
