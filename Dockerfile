# Builds from the lock file: names, versions and hashes of all Python packages are in it.
# Both stages have the same Python, as packages with compiled parts belong to one version.
ARG BASE=debian:trixie-slim

FROM ${BASE} AS build
RUN apt-get update \
    && apt-get install -y --no-install-recommends python3-venv \
    && rm -rf /var/lib/apt/lists/*
RUN python3 -m venv /opt/memcached-exporter
WORKDIR /src
COPY requirements.lock ./
RUN /opt/memcached-exporter/bin/pip install --no-cache-dir --require-hashes --only-binary :all: \
        -r requirements.lock
COPY LICENSE README.md pyproject.toml ./
COPY exporter exporter
RUN /opt/memcached-exporter/bin/pip install --no-cache-dir --no-deps --no-build-isolation . \
    && /opt/memcached-exporter/bin/pip uninstall -y setuptools pip \
    && /opt/memcached-exporter/bin/python -m compileall -q /opt/memcached-exporter/lib

FROM ${BASE}
LABEL org.opencontainers.image.title="memcached-exporter" \
      org.opencontainers.image.description="Prometheus exporter for memcached and the host it runs on" \
      org.opencontainers.image.licenses="Apache-2.0"
RUN apt-get update \
    && apt-get install -y --no-install-recommends python3-minimal libpython3-stdlib \
    && rm -rf /var/lib/apt/lists/*
COPY --from=build /opt/memcached-exporter /opt/memcached-exporter
# HEALTH_URL: where the health check asks; set it with another port, or TLS.
ENV PATH=/opt/memcached-exporter/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    HEALTH_URL=http://127.0.0.1:9150/-/healthy
USER 65534:65534
EXPOSE 9150
HEALTHCHECK --interval=30s --timeout=3s --start-period=5s \
    CMD ["/opt/memcached-exporter/bin/python", "-c", "import os, urllib.request as r; r.urlopen(os.environ['HEALTH_URL'], timeout=2)"]
ENTRYPOINT ["memcached-exporter"]
