# Dropmill: build, try, test, install. `make help` lists the targets.

PREFIX ?= /usr/local
DESTDIR ?=
SWIFT ?= swift
# Swift's own: C that is called by Swift's rules is nobody else's business.
CLANG ?= $(dir $(realpath $(shell command -v $(SWIFT))))clang

# A release is linked statically, so that it runs where there is no Swift; that needs a build folder of its own.
RELEASE := .build-release/release/dropmill
# On the file system that the benchmark is to measure.
BENCH_FOLDER ?= /var/tmp
# `QUICK=0` says no as well.
IS_QUICK := $(filter-out 0,$(QUICK))
IS_GROWTH := $(filter-out 0,$(GROWTH))
# Debian's, for which its matplotlib is.
PYTHON ?= /usr/bin/python3
# With what comes from PyPI.
TOOLS := .build/tools/bin/python3
DOCS := $(DESTDIR)$(PREFIX)/share/doc/dropmill

# What `--version` says was built; of an unpacked archive it has to be given, or there is none.
COMMIT ?= $(shell git describe --always --exclude '*' --abbrev=7 --dirty 2>/dev/null)

# Who owns this checkout: `sudo make install` must not build here, or it leaves files of root's in somebody's folder.
IS_OURS := $(filter $(shell id -u),$(shell stat -c %u .))

# What finishes within minutes under a sanitizer, which slows everything and takes memory of its own. Not among it: what
# starts a confined helper, for whose limits of memory and calls a sanitizer's own are too many; and what counts the memory
# that the program takes, since it would count the sanitizer's.
SANITIZED := ^(FilesTests|FolderWatchTests|PipelineKitTests|DigestsTests|ArchiveTests|PipelineEngineTests|BuiltinStagesTests)\.
UNSANITIZED := ConfinementTests|UnpackHelperTests|UnpackServerTests|UnpackStageTests|StageContractTests
UNSANITIZED := $(UNSANITIZED)|WaitingMemoryTests|TypeHelperTests|NameMatcherTests|MonitorLimitTests
UNSANITIZED := $(UNSANITIZED)|RotationTests|RandomOperationsTests
# C is compiled to stop at undefined behaviour. Swift's has no sanitizer on Linux: it stops at overflow by itself.
UNDEFINED := -Xcc -fsanitize=undefined -Xcc -fsanitize-trap=undefined

# What makes a mistake in C harder to use: packaging/check-elf.sh looks for it in the program. (Control-flow protection is all
# objects' or none's, and Swift's have none.) All symbols are bound before the program begins, and their table is read-only
# from then on.
HARDENED := -Xcc -fstack-protector-strong $(foreach word,relro now noexecstack,-Xlinker -z -Xlinker $(word))
# A twentieth of the program would be a list of its relocations; packed it needs glibc 2.36, and Swift's own lld. Another
# would be the names of all that Swift's libraries offer to plug-ins, of which it has none.
PACKED := -Xswiftc -use-ld=lld -Xlinker -z -Xlinker pack-relative-relocs -Xlinker --no-export-dynamic
# The same program wherever it is built (with packaging/build-id.sh), and one whose debug symbols can be told by its number.
# Clang's modules are named by where they are built, so the symbols do not speak of them.
MAPPED := -Xswiftc -file-prefix-map -Xswiftc $(CURDIR)=. -Xcc -ffile-prefix-map=$(CURDIR)=. -Xlinker --build-id=sha1 \
    -Xswiftc -Xfrontend -Xswiftc -no-clang-module-breadcrumbs

.PHONY: help build release built demo examples docs api test page-test torture fuzz sanitize bench page-bench soak check notices format install deb deb-test deb-twice tarball tarball-test image image-test clean deps test-deps

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

deps:
	@packaging/install-build-deps.sh

test-deps:
	@packaging/install-build-deps.sh --test

build: deps ## a debug build
	$(SWIFT) build

release: deps ## the binary to install: optimised, Swift linked in
	DROPMILL_COMMIT="$(COMMIT)" $(SWIFT) build -c release --static-swift-stdlib --disable-local-rpath --product dropmill \
	    --scratch-path .build-release $(HARDENED) $(PACKED) $(MAPPED)
	@packaging/build-id.sh $(RELEASE)
	@packaging/check-elf.sh $(RELEASE) $(dir $(RELEASE))CLinux.build
	@touch .build-release/made

built:
	@test -e .build-release/made && test -z "$$(find Package.swift VERSION Sources -newer .build-release/made -type f)" || { \
	    echo "error: $(RELEASE) is missing or older than the sources; run 'make release' as the owner of this folder" >&2; \
	    exit 1; }

demo: release ## run the samples through the quickstart pipeline and show the results
	@packaging/demo.sh $(RELEASE)

examples: deps ## build and run the programs in Examples, which have this package as a dependency
	@packaging/examples.sh

test: test-deps ## every test; of what kills, fails and cuts the power a spread of the points
	DROPMILL_KQUEUE=1 $(SWIFT) test --scratch-path .build-kqueue
	$(SWIFT) test

page-test: release test-deps ## the page in Chromium, alone and beside the real server; PICTURES for a folder of pictures, ROUNDS of kills
	$(TOOLS) Tests/dashboard/pages.py $(if $(PICTURES),--pictures "$(PICTURES)")
	$(TOOLS) Tests/dashboard/served.py --binary $(RELEASE) $(if $(PICTURES),--pictures "$(PICTURES)")
	$(TOOLS) Tests/dashboard/schema.py --binary $(RELEASE)
	$(TOOLS) Tests/dashboard/killed.py --binary $(RELEASE) --rounds $(or $(ROUNDS),30)

torture: test-deps ## 200 random kills, every system call as a point to kill, to fail, to cut the power at; very large folders; DROPMILL_CROWD originals to prune
	DROPMILL_TORTURE=1 $(SWIFT) test -c release -Xswiftc -enable-testing --scratch-path .build-torture \
	    --filter 'TortureTests|StageContractTests|StrangerTests|JobMachineTests'

fuzz: test-deps ## ten minutes of made-up archives; FUZZ_SECONDS for more or less
	@packaging/fuzz.sh $(or $(FUZZ_SECONDS),600)

sanitize: test-deps ## the quick suites under the address and thread sanitizers; C also stops at undefined behaviour
	ASAN_OPTIONS=detect_leaks=0 $(SWIFT) test --sanitize=address $(UNDEFINED) --scratch-path .build-asan \
	    --filter '$(SANITIZED)' --skip '$(UNSANITIZED)'
	$(SWIFT) build --build-tests --sanitize=thread --scratch-path .build-tsan
	$(CLANG) -O1 -shared -fPIC -o .build-tsan/locks.so Tests/sanitize/locks.c
	LD_PRELOAD=$(CURDIR)/.build-tsan/locks.so $(SWIFT) test --skip-build --sanitize=thread --scratch-path .build-tsan \
	    --filter '$(SANITIZED)' --skip '$(UNSANITIZED)'

bench: release ## measure beside plain tools; QUICK=1: three minutes; GROWTH=1: up to 1,000,000 files and 16 GiB
	@packaging/install-build-deps.sh --bench
	@status=0; \
	$(PYTHON) Benchmarks/bench.py --binary $(RELEASE) --folder "$(BENCH_FOLDER)" $(if $(IS_QUICK),--quick) || status=1; \
	$(if $(IS_QUICK),,$(PYTHON) Benchmarks/growth.py --binary $(RELEASE) --folder "$(BENCH_FOLDER)" \
	    --plots Benchmarks/results $(if $(IS_GROWTH),--files 1000000 --largest 16384) || status=1;) \
	exit $$status

page-bench: release test-deps ## what the page costs: uploads, a journal of a million jobs, 64 streams, scrapes
	$(TOOLS) Benchmarks/page.py --binary $(RELEASE) --folder "$(BENCH_FOLDER)"

soak: release ## a million drops of all kinds; DROPS for fewer. Memory, descriptors and threads must not grow
	$(PYTHON) Benchmarks/soak.py --drops $(or $(DROPS),1000000) --binary $(RELEASE) --folder "$(BENCH_FOLDER)"

check: deps ## formatting, lint, and every shipped pipeline file
	$(SWIFT) format lint --strict --recursive Package.swift Sources Tests Examples
	$(SWIFT) run dropmill check pipelines

docs: deps ## the pages of the libraries, below .build/docs; code in them that does not compile fails
	@packaging/docs.sh

api: deps ## what the libraries offer, compared with the last release; packaging/api-changes.txt has what may break
	@packaging/api.py

notices: ## rewrite THIRD-PARTY-NOTICES and the SPDX file (after a dependency or VERSION changed)
	$(SWIFT) package resolve
	$(PYTHON) packaging/third-party.py

format: ## format the sources in place
	$(SWIFT) format --in-place --recursive Package.swift Sources Tests Examples

install: $(if $(IS_OURS),release,built) ## install to PREFIX (below DESTDIR, if set)
	install -D -s -m 0755 $(RELEASE) $(DESTDIR)$(PREFIX)/bin/dropmill
	@packaging/check-elf.sh $(DESTDIR)$(PREFIX)/bin/dropmill
	install -D -m 0644 packaging/dropmill.catalog $(DESTDIR)$(PREFIX)/lib/systemd/catalog/dropmill.catalog
	@packaging/install-manual.sh $(DESTDIR)$(PREFIX)/bin/dropmill $(DESTDIR)$(PREFIX)/share
	install -d $(DOCS)/docs $(DOCS)/examples
	install -m 0644 README.md CHANGELOG.md SECURITY.md LICENSE THIRD-PARTY-NOTICES packaging/dropmill.spdx.json $(DOCS)
	install -m 0644 docs/*.md docs/*.png docs/alerts.yaml docs/grafana.json $(DOCS)/docs
	install -m 0644 pipelines/*.yaml packaging/systemd/*.service packaging/systemd/drop-ins/*.conf $(DOCS)/examples

deb: release ## Debian packages of it, below .build-deb
	@packaging/install-build-deps.sh --deb
	@packaging/deb/build.sh $(RELEASE) .build-deb
	lintian --profile debian --fail-on error,warning --info .build-deb/*.deb
	@ls -l .build-deb/*.deb

deb-test: deb ## install, work, fail, upgrade, remove the package below a real systemd (as root, else it is skipped)
	@packaging/install-build-deps.sh --test
	@packaging/deb/try.sh .build-deb
	@packaging/deb/samples.sh .build-deb $(or $(SAMPLES),500)
	@packaging/deb/failing.sh .build-deb
	@packaging/deb/hardening.sh .build-deb
	@packaging/deb/serve.sh .build-deb

deb-twice: deps ## build the packages twice, elsewhere, later, as another user, and compare them byte for byte
	@packaging/install-build-deps.sh --deb
	@packaging/deb/twice.sh

tarball: release ## the program with its libraries, for distributions that are not Debian, below .build-deb
	@packaging/install-build-deps.sh --deb
	@packaging/tarball/build.sh $(RELEASE) .build-deb

tarball-test: tarball ## take the samples through it in trees of other Debian releases (as root, else it is skipped)
	@packaging/tarball/try.sh .build-deb

image: deb ## an OCI image, below .build-deb (as root)
	@packaging/image/build.sh .build-deb

image-test: image ## run the image with a root that cannot be written to (as root)
	@packaging/image/try.sh .build-deb

clean: ## remove builds and what the demo left
	rm -rf .build .build-outside .build-kqueue .build-release .build-torture .build-fuzz .build-asan .build-tsan .build-deb
	rm -rf samples/inbox samples/processed samples/failed samples/output samples/.dropmill samples/.dropmill-state
