# Every target sets up what it needs: a virtual environment in .venv with the locked packages,
# and, for what starts servers, the missing Debian or Ubuntu packages (as root or with sudo).

PYTHON_DIRS = exporter tests bench demo grafana
BIN = .venv/bin
# Where Debian has ip and ethtool, which are not on everyone's PATH.
export PATH := $(PATH):/usr/local/sbin:/usr/sbin:/sbin

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help run demo test lint format dashboards pictures mutate bench soak package sbom image-test lock clean

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /  \1\t/p' Makefile | expand -t 12
	@echo
	@echo 'run takes   LISTEN=:9151, MEMCACHED=host:port, ARGS="more flags of the exporter"'
	@echo 'demo takes  DEMO_ARGS="--fast --port 29150"'
	@echo 'test takes  PYTEST_ARGS="-k words"'
	@echo 'bench takes BENCH_ARGS, soak takes SOAK_ARGS="--minutes 8 --seed 7"'
	@echo 'lock takes  LOCK_ARGS="--upgrade"'
	@echo 'all take    PYTHON=python3.12, where the first Python found is not the one to use'
	@echo
	@echo 'run, demo and test install missing packages with apt-get. On a machine with systemd, the'
	@echo 'packages memcached, prometheus and prometheus-alertmanager start their services.'

run: ## run the exporter on :9150 with a memcached on 127.0.0.1:11211
	@scripts/setup.sh run
	@scripts/run.sh $(ARGS)

demo: ## run memcached, traffic, exporter, Prometheus and Alertmanager, to look at
	@scripts/need.sh memcached:memcached prometheus:prometheus \
		prometheus-alertmanager:prometheus-alertmanager
	@scripts/setup.sh run
	@$(BIN)/python -m demo $(DEMO_ARGS)

test: ## run all tests
	@scripts/need.sh memcached:memcached promtool:prometheus amtool:prometheus-alertmanager \
		ip:iproute2 ethtool:ethtool systemd-analyze:systemd
	@scripts/need.sh --if-any chromium:chromium chromedriver:chromium-driver
	@scripts/setup.sh dev
	$(BIN)/python -m pytest --numprocesses=auto --dist=loadfile $(PYTEST_ARGS)

lint: ## check style and types
	@scripts/setup.sh dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy --strict $(PYTHON_DIRS)

format: ## format the code and apply safe fixes
	@scripts/setup.sh dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

dashboards: ## write grafana/dashboards anew
	@scripts/setup.sh dev
	$(BIN)/python -m grafana.source

pictures: ## run the demo for some minutes, and draw the dashboards into docs/pictures
	@scripts/need.sh memcached:memcached prometheus:prometheus \
		prometheus-alertmanager:prometheus-alertmanager
	@scripts/setup.sh dev
	$(BIN)/python -m demo.pictures $(PICTURES_ARGS)

mutate: ## break each rule for Prometheus in turn, and list what no test notices
	@scripts/need.sh promtool:prometheus
	@scripts/setup.sh dev
	$(BIN)/python -m tests.alerts.mutation $(MUTATE_ARGS)

bench: ## run the benchmarks
	@scripts/need.sh memcached:memcached
	@scripts/setup.sh dev
	$(BIN)/python -m bench $(BENCH_ARGS)

soak: ## scrape for minutes while servers and clients misbehave, and check each page
	@scripts/need.sh memcached:memcached
	@scripts/setup.sh dev
	$(BIN)/python -m bench.soak $(SOAK_ARGS)

package: ## build wheel and source distribution in dist/
	@scripts/setup.sh dev
	$(BIN)/python -m build --no-isolation

sbom: ## write dist/sbom.cdx.json: what is in an installation
	@scripts/sbom.sh

image-test: ## build the container image with buildah, as root, and try it
	@scripts/image-test.sh $(BASE)

lock: ## write requirements.lock and requirements-dev.lock anew from pyproject.toml
	@scripts/lock.sh $(LOCK_ARGS)

clean: ## remove .venv and everything that tools left behind
	rm -rf .venv build dist *.egg-info .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
