# Build from the folder that holds MyServer and NetManager:
#   docker build -f NetManager/docs/docker/bookworm.Dockerfile .
FROM swift:6.3-bookworm AS build
RUN apt-get update \
    && apt-get install --yes --no-install-recommends libcurl4-openssl-dev libssl-dev zlib1g-dev pkg-config \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /build
COPY NetManager NetManager
COPY MyServer MyServer
RUN swift build --package-path MyServer --configuration release --static-swift-stdlib

FROM debian:12-slim
RUN apt-get update \
    && apt-get install --yes --no-install-recommends libcurl4 libssl3 zlib1g ca-certificates \
    && rm -rf /var/lib/apt/lists/*
COPY --from=build /build/MyServer/.build/release/MyServer /usr/local/bin/MyServer
# Certificates are looked up beside the program.
COPY MyServer/Certificates /usr/local/bin/Certificates
USER nobody
ENTRYPOINT ["/usr/local/bin/MyServer"]
