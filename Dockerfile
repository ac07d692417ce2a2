# The image of Althing. Two targets matter: the default one runs `althing`, as PID 2 under tini, without privileges, and
# writes to /data and /tmp only.
#
#   docker build -t althing:0.2.0-dev .
#   docker buildx build --platform linux/amd64,linux/arm64 -t althing:0.2.0-dev .
#
# A release build pins the base by digest: --build-arg NODE_IMAGE=node:22-bookworm-slim@sha256:... and has the time of its commit
# on everything in it, so that two builds of one commit are the same: SOURCE_DATE_EPOCH="$(git log -1 --format=%ct)" in the
# environment of `docker buildx build --output type=image,rewrite-timestamp=true`. docs/docker.md has the whole command.
ARG NODE_IMAGE=node:22-bookworm-slim

# Builds, then keeps what runs: production dependencies with the native files of this platform only. Nothing is compiled
# from C++: the native packages bring their binaries.
FROM ${NODE_IMAGE} AS build
WORKDIR /app
ENV CI=true NPM_CONFIG_UPDATE_NOTIFIER=false NPM_CONFIG_FUND=false NPM_CONFIG_AUDIT=false
# The manifests first: as long as they stay, so does the layer with the dependencies.
COPY package.json package-lock.json ./
COPY packages/raft-ts/package.json packages/raft-ts/
COPY packages/language/package.json packages/language/
COPY packages/regex/package.json packages/regex/
COPY packages/datetime/package.json packages/datetime/
COPY packages/engine/package.json packages/engine/
COPY packages/storage/package.json packages/storage/
COPY packages/node/package.json packages/node/
COPY packages/client/package.json packages/client/
COPY packages/console/package.json packages/console/
COPY packages/cli/package.json packages/cli/
COPY packages/verification/package.json packages/verification/
RUN npm ci --ignore-scripts
COPY tsconfig.json tsconfig.base.json ./
COPY packages/ packages/
RUN node packages/language/generator/main.mjs && npx tsc -b packages/cli packages/console/web \
  && node packages/console/generator/main.mjs && node packages/cli/generator/bundle.mjs
RUN npm prune --omit=dev --ignore-scripts
COPY deploy/docker/ deploy/docker/
RUN node deploy/docker/sbom.mjs > sbom.cdx.json && node deploy/docker/trim.mjs /app

# tini forwards signals to node and reaps what is left over; it is copied so that the image has no traces of apt.
FROM ${NODE_IMAGE} AS init
RUN command -v tini-static >/dev/null \
  || (apt-get update && apt-get install -y --no-install-recommends tini)

FROM ${NODE_IMAGE}
ARG VERSION=0.2.0-dev
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Althing" \
  org.opencontainers.image.description="A clustered database with stored procedures" \
  org.opencontainers.image.licenses="Apache-2.0" \
  org.opencontainers.image.version="${VERSION}" \
  org.opencontainers.image.revision="${REVISION}"

# npm and the like are not needed to run. The folders belong to the user, and to group 0 for platforms that run
# containers under a random user of that group; what is made in them does, too.
RUN rm -rf /usr/local/lib/node_modules /usr/local/bin/npm /usr/local/bin/npx /usr/local/bin/corepack /opt/yarn-* \
  /usr/local/bin/yarn /usr/local/bin/yarnpkg \
  && ln -s /app/packages/cli/bin/althing.js /usr/local/bin/althing \
  && ln -s /app/packages/cli/bin/thingsdb.js /usr/local/bin/thingsdb \
  && mkdir /data /secrets /backup /certs \
  && chown 10001:0 /data /secrets /backup /certs \
  && chmod 2770 /data /secrets /backup /certs

COPY --from=init /usr/bin/tini-static /usr/bin/tini
COPY --from=build /app/package.json /app/sbom.cdx.json /app/
COPY --from=build /app/node_modules/ /app/node_modules/
COPY --from=build /app/packages/ /app/packages/
COPY --from=build /app/deploy/docker/ /app/deploy/docker/

# A container is reached from outside; a first start therefore insists on an admin password (SERVICE_ADMIN_PASSWORD_FILE).
ENV NODE_ENV=production \
  TZ=UTC \
  SERVICE_STORAGE_PATH=/data \
  SERVICE_BACKUP_PATH=/backup \
  SERVICE_BIND_CLIENT_ADDR=0.0.0.0 \
  SERVICE_BIND_NODE_ADDR=0.0.0.0 \
  SERVICE_LOG_FORMAT=json

USER 10001:10001
WORKDIR /data
VOLUME /data
# Native protocol, API, nodes among themselves, health and metrics
EXPOSE 9200 9210 9220 9230
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=5s --timeout=3s --start-period=30s --retries=3 \
  CMD ["node", "/app/deploy/docker/healthcheck.mjs"]
ENTRYPOINT ["/usr/bin/tini", "--", "node", "/app/packages/cli/bin/althing.js"]
CMD ["serve"]
