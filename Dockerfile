# syntax=docker/dockerfile:1

# Node 24, which gets fixes until April 2028 (nodejs.org/en/about/previous-releases). Debian's allocator is the one that
# the memory in bench/RESULTS.md was measured with: another gives memory back in another way.
FROM node:24-bookworm-slim AS build
WORKDIR /build
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts
COPY tsconfig.json tsconfig.build.json ./
COPY engine engine
COPY ingest ingest
COPY src src
RUN npm run build && npm prune --omit=dev --ignore-scripts

FROM node:24-bookworm-slim
# The stack's own health check calls curl.
RUN apt-get update \
  && apt-get install --yes --no-install-recommends curl \
  && rm -rf /var/lib/apt/lists/* \
  && mkdir /data \
  && chown node:node /data
WORKDIR /weir
COPY --from=build /build/package.json ./
COPY --from=build /build/node_modules node_modules
COPY --from=build /build/dist dist
COPY src/endpoints src/endpoints
COPY LICENSE ./

# Without these glibc keeps up to 64 MiB of what each of its arenas has freed.
ENV MALLOC_ARENA_MAX=2 MALLOC_MMAP_THRESHOLD_=1048576 MALLOC_TRIM_THRESHOLD_=1048576
ENV NODE_ENV=production HOST=0.0.0.0 PORT=4000 DATA_DIR=/data
USER node
VOLUME /data
EXPOSE 4000
# It is healthy when it takes calls: a start reads the log first, the longer the more was being written.
HEALTHCHECK --interval=5s --timeout=5s --start-period=60s --retries=10 \
  CMD curl --fail --silent --output /dev/null "http://127.0.0.1:${PORT}/health" || exit 1
# No shell and no npm between: SIGTERM reaches the service, which finishes what is under way.
CMD ["node", "dist/src/main.js", "start"]
