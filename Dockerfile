# Builds the binary, and puts it alone into a small image: no shell, no package manager, no root.
#
#   docker build -t stackwright .
#   docker run -p 127.0.0.1:3000:3000 -e STACK_API_KEY=... stackwright

# The binary needs glibc and nothing else; debian:bookworm-slim serves as well, where a shell is wanted.
ARG RUNTIME=gcr.io/distroless/cc-debian12:nonroot

FROM oven/bun:1.4.5-debian AS build
WORKDIR /src
COPY package.json bun.lock bunfig.toml ./
RUN bun install --frozen-lockfile --production
COPY . .
RUN bun run build

FROM ${RUNTIME}
COPY --from=build /src/dist/stackwright /stackwright
# "nonroot" of the distroless images, by number, so that Kubernetes can see that it is not root.
USER 65532:65532
# Every address of the container: the server starts on it only when STACK_API_KEY is set.
ENV HOST=0.0.0.0 PORT=3000
EXPOSE 3000
HEALTHCHECK --interval=30s --timeout=5s --start-period=5s --retries=3 CMD ["/stackwright", "--healthcheck"]
ENTRYPOINT ["/stackwright"]
