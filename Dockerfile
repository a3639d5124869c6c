# patchmgr with git and the formatters, on Debian's own Python.
#
#   docker build --tag patchmgr .
#   docker run --rm --user "$(id -u):$(id -g)" --volume "$PWD:/work" --volume patchmgr:/cache \
#     patchmgr status
#
# The volume keeps what was fetched of upstreams. A clone that a workspace borrows from must be
# mounted at its own path.
FROM debian:13-slim AS build
# Debian's stable release is the pin.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends python3 python3-venv \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY requirements-dev.lock pyproject.toml hatch_build.py README.md LICENSE ./
COPY patchmgr patchmgr
# The versions that the tests run with.
RUN sed -e '/--hash/d' -e 's/ *\\$//' requirements-dev.lock > constraints.txt \
    && python3 -m venv /opt/patchmgr \
    && /opt/patchmgr/bin/pip install --no-cache-dir --constraint constraints.txt '.[format]'

FROM debian:13-slim
# Debian's stable release is the pin.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends ca-certificates git openssh-client python3 \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --create-home patchmgr \
    && install --directory --mode=1777 /cache
COPY --from=build /opt/patchmgr /opt/patchmgr
ENV PATH=/opt/patchmgr/bin:$PATH LC_ALL=C.UTF-8 XDG_CACHE_HOME=/cache
USER patchmgr
WORKDIR /work
VOLUME ["/cache"]
ENTRYPOINT ["patchmgr"]
CMD ["--help"]
