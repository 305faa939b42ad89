#!/bin/sh
# What the other scripts share. Read by them with `.`, from the folder of the stack.

say() { printf '%s\n' "$*"; }
fail() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}

# Checks that Docker and Compose v2 are here and that the engine answers.
need_docker() {
  command -v docker >/dev/null 2>&1 || fail "docker is not installed: see https://docs.docker.com/engine/install/"
  docker compose version >/dev/null 2>&1 || fail "Docker Compose v2 is not installed: see https://docs.docker.com/compose/install/"
  docker info >/dev/null 2>&1 || fail "the Docker engine does not answer: is it running, and may $(id -un) use it?"
}

need_env() {
  [ -f .env ] || fail "there is no .env yet: run scripts/start.sh"
}

# Removes the containers of the stack and its network. Right after its containers, the engine may hold the network still; asked
# again it lets go, or keeps an empty network until it is restarted, which is in nobody's way.
remove_containers() {
  docker compose down --remove-orphans && return
  sleep 1
  docker compose down --remove-orphans && return
  left=$(docker compose ps -aq) && [ -z "$left" ]
}

# Prints one line for each container, running or not: name, state, health (or -), exit code, role, addresses.
containers() {
  ids=$(docker compose ps -aq) || return 1
  [ -n "$ids" ] || return 0
  # shellcheck disable=SC2086 # one word for each container
  docker inspect --format '{{index .Config.Labels "com.docker.compose.service"}} {{.State.Status}} {{if .State.Health}}{{.State.Health.Status}}{{else}}-{{end}} {{.State.ExitCode}} {{.HostConfig.RestartPolicy.Name}} {{index .Config.Labels "stackwright.address"}}' $ids | sort
}

# Prints the names of containers in a state: ready, waiting or sick. Jobs are ready when they ended well.
in_state() {
  containers | awk -v wanted="$1" '
    {
      state = "waiting"
      job = ($5 == "no" || $5 == "")
      if ($2 == "running" && ($3 == "healthy" || $3 == "-")) state = "ready"
      else if ($2 == "exited" && job && $4 == 0) state = "ready"
      else if ($3 == "unhealthy" || $2 == "dead" || $2 == "restarting" || ($2 == "exited" && (!job || $4 != 0))) state = "sick"
      if (state == wanted) print $1
    }'
}

# wait_until_ready SECONDS: returns 0 when every container is ready, 1 when the time is over.
wait_until_ready() {
  deadline=$(($(date +%s) + $1))
  while :; do
    waiting=$(in_state waiting; in_state sick)
    [ -n "$waiting" ] || return 0
    [ "$(date +%s)" -lt "$deadline" ] || return 1
    sleep 2
  done
}

# label CONTAINER NAME: prints a label of a Compose service, from its container.
label() {
  id=$(docker compose ps -aq "$1" | head -n 1)
  [ -n "$id" ] || return 0
  docker inspect --format "{{index .Config.Labels \"$2\"}}" "$id"
}
