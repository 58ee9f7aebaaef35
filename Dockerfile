# A static binary in an empty image, as a user without rights. Build it for several processors
# from the artifacts of a release:
#   docker buildx build --platform linux/amd64,linux/arm64 --build-arg VERSION=1.2.3 -t IMAGE .
FROM scratch
ARG VERSION
ARG TARGETARCH
COPY dist/build/hyperpod_${VERSION}_linux_${TARGETARCH}/hyperpod /hyperpod
USER 65532:65532
ENTRYPOINT ["/hyperpod"]
