// swift-tools-version: 6.2

import PackageDescription

let strict: [SwiftSetting] = [
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
]

// What makes a mistake in C harder to use; fortified calls need an optimiser. The rest of it are flags that SwiftPM takes
// from no package that others depend on, so `make release` gives them.
let hardenedC: [CSetting] = [.define("_FORTIFY_SOURCE", to: "3", .when(configuration: .release))]

// Where there is kqueue (Darwin, the BSDs) the package is FolderWatch alone: the daemon is Linux's. DROPMILL_KQUEUE makes
// the same package on Linux, with a double of kqueue (Tests/fakekqueue).
#if os(Linux)
    let isFaking = Context.environment["DROPMILL_KQUEUE"] != nil
    let isPortable = isFaking
#else
    let isFaking = false
    let isPortable = true
#endif
let portable: [SwiftSetting] = strict + (isFaking ? [.define("DROPMILL_KQUEUE")] : [])

let system: Target.Dependency = .product(name: "SystemPackage", package: "swift-system")
let log: Target.Dependency = .product(name: "Logging", package: "swift-log")
let arguments: Target.Dependency = .product(name: "ArgumentParser", package: "swift-argument-parser")
let http: [Target.Dependency] = [
    .product(name: "HummingbirdCore", package: "hummingbird"), .product(name: "NIOCore", package: "swift-nio"),
    .product(name: "NIOPosix", package: "swift-nio"), .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
    .product(name: "HTTPTypes", package: "swift-http-types"),
]
// BoringSSL: nothing puts the system's OpenSSL, whose libcrypto Digests uses, into NIO's channels.
let tls: [Target.Dependency] = [
    .product(name: "NIOSSL", package: "swift-nio-ssl"), .product(name: "NIOTLS", package: "swift-nio"),
]
let deque: Target.Dependency = .product(name: "DequeModule", package: "swift-collections")

let kqueue: Target =
    isFaking
    ? .target(name: "CKqueue", path: "Tests/fakekqueue", publicHeadersPath: ".") : .systemLibrary(name: "CKqueue")
// What is built everywhere.
let watching: [Target] =
    (isPortable ? [kqueue] : []) + [
        .target(name: "Platform", swiftSettings: portable),
        .target(
            name: "Files", dependencies: ["Platform", system] + (isPortable ? [] : ["CLinux"]),
            swiftSettings: portable),
        .target(
            name: "FolderWatch", dependencies: ["Files", "Platform", system] + (isPortable ? ["CKqueue"] : []),
            swiftSettings: portable),
        // How many tests run at once.
        .target(name: "width", path: "Tests/width", publicHeadersPath: "."),
        .target(
            name: "TestTools", dependencies: ["Files", "Platform", "width", system], path: "Tests/TestTools",
            swiftSettings: portable),
        .testTarget(
            name: "FolderWatchTests",
            dependencies: ["FolderWatch", "Files", "Platform", "TestTools", system], swiftSettings: portable),
    ]

// The layers, lowest first; a target imports from lower layers only (Tests/ArchitectureTests reads the imports).
let package = Package(
    name: "dropmill",
    platforms: [.macOS(.v15)],
    products: [
        .executable(name: "dropmill", targets: ["dropmill"]),
        // For other programs.
        .library(name: "FolderWatch", targets: ["FolderWatch"]),
        .library(name: "Dropmill", targets: ["Dropmill"]),
        .library(name: "DropmillStages", targets: ["DropmillStages"]),
        // Preloaded by the tests.
        .library(name: "fakeclock", type: .dynamic, targets: ["fakeclock"]),
        .library(name: "heapcount", type: .dynamic, targets: ["heapcount"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"),
        .package(url: "https://github.com/apple/swift-collections", exact: "1.6.0"),
        .package(url: "https://github.com/apple/swift-log", exact: "1.16.2"),
        .package(url: "https://github.com/apple/swift-http-types", exact: "1.8.0", traits: []),
        .package(url: "https://github.com/apple/swift-nio", exact: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-extras", exact: "1.35.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl.git", exact: "2.37.6"),
        .package(url: "https://github.com/apple/swift-system", exact: "1.8.1"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", exact: "2.28.1", traits: []),
    ],
    targets: watching + [
        // L0: module maps, and the few C lines that Swift cannot say. What has no pkgConfig is not linked, but loaded where
        // a pipeline needs it.
        .systemLibrary(name: "CArchive", providers: [.apt(["libarchive-dev"])]),
        .systemLibrary(name: "CCrypto", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CCurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(name: "CISAL", pkgConfig: "libisal", providers: [.apt(["libisal-dev"])]),
        .systemLibrary(name: "CMagic", providers: [.apt(["libmagic-dev"])]),
        .systemLibrary(name: "CPostgres", providers: [.apt(["libpq-dev"])]),
        .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(name: "CXXHash", pkgConfig: "libxxhash", providers: [.apt(["libxxhash-dev"])]),
        .systemLibrary(name: "CYaml", pkgConfig: "yaml-0.1", providers: [.apt(["libyaml-dev"])]),
        .target(name: "CLinux", cSettings: hardenedC),
        .target(name: "CStart", cSettings: hardenedC),
        // The file VERSION, and the commit as `make release` says it. (Context.gitInformation would not do: SwiftPM keeps
        // what a manifest said, also when the commit is another.)
        .target(
            name: "CVersion",
            cSettings: [.define("DROPMILL_COMMIT", to: "\"\(Context.environment["DROPMILL_COMMIT"] ?? "")\"")]),

        // What the pages consist of.
        .target(name: "CDashboard", exclude: ["assets"], cSettings: hardenedC),

        // L1
        .target(name: "PipelineKit", dependencies: ["Files", "CLinux", system], swiftSettings: strict),
        .target(name: "Helpers", dependencies: ["CLinux", system], swiftSettings: strict),
        .target(
            name: "Archive", dependencies: ["CArchive", "CISAL", "CLinux", "Helpers", system], swiftSettings: strict),
        .target(
            name: "Completeness", dependencies: ["CISAL", "CLinux", "Helpers", system], swiftSettings: strict),
        .target(name: "Digests", dependencies: ["CCrypto", "CISAL", "CXXHash", system], swiftSettings: strict),
        .target(
            name: "FileTypes", dependencies: ["CLinux", "CMagic", "Helpers", system], swiftSettings: strict),
        .target(name: "Programs", dependencies: ["CLinux", system], swiftSettings: strict),
        .target(name: "SQLite", dependencies: ["CSQLite"], swiftSettings: strict),
        .target(name: "Web", dependencies: ["CCurl", "CLinux"], swiftSettings: strict),
        .target(
            name: "Readiness",
            dependencies: ["Files", "FolderWatch", "PipelineKit", "CLinux", "Digests", system, deque],
            swiftSettings: strict),
        .target(name: "Journal", dependencies: ["Files", "PipelineKit", system], swiftSettings: strict),

        // L2
        .target(
            name: "BuiltinStages",
            dependencies: ["Files", "PipelineKit", "Archive", "Digests", "FileTypes", "Programs", "Web", system],
            swiftSettings: strict),
        .target(
            name: "SQLiteJournal",
            dependencies: ["Files", "PipelineKit", "Journal", "SQLite", "CLinux", "CVersion", system],
            swiftSettings: strict),
        .target(
            name: "PostgresJournal",
            dependencies: ["Files", "PipelineKit", "Journal", "CPostgres", "CLinux", system], swiftSettings: strict),
        .target(
            name: "PipelineEngine",
            dependencies: [
                "Files", "PipelineKit", "FolderWatch", "Readiness", "Journal", "CLinux", system, deque,
            ],
            swiftSettings: strict),
        .target(
            name: "Doctor",
            dependencies: ["Files", "PipelineKit", "FolderWatch", "Readiness", "PipelineEngine", "CLinux", system],
            swiftSettings: strict),
        .target(
            name: "Notifications", dependencies: ["Files", "PipelineKit", "Journal", "Programs", "Web", system],
            swiftSettings: strict),
        .target(
            name: "Retention", dependencies: ["Archive", "Files", "PipelineKit", "Journal", system],
            swiftSettings: strict),
        .target(
            name: "PipelineConfig", dependencies: ["Files", "PipelineKit", "CYaml", system], swiftSettings: strict),
        .target(
            name: "Control", dependencies: ["Files", "PipelineKit", "Journal", "CLinux", system], swiftSettings: strict),

        // L3
        .target(
            name: "Dropmill",
            dependencies: [
                "Files", "PipelineKit", "Completeness", "Readiness", "Journal", "PipelineEngine", "PipelineConfig",
                "SQLiteJournal", system, deque,
            ],
            swiftSettings: strict),
        .target(name: "DropmillStages", dependencies: ["BuiltinStages"], swiftSettings: strict),
        .target(
            name: "Dashboard",
            dependencies: [
                "Files", "PipelineKit", "Journal", "Control", "Digests", "CDashboard", "CLinux", system, log,
            ] + http + tls,
            swiftSettings: strict),

        // L4
        .target(
            name: "DropmillCommand",
            dependencies: [
                "Files", "PipelineKit", "BuiltinStages", "Doctor", "Dropmill", "FolderWatch", "Readiness", "Journal",
                "PipelineEngine", "PipelineConfig", "PostgresJournal", "SQLiteJournal", "Control", "Dashboard",
                "Digests",
                "Notifications", "Retention", "CLinux", "CVersion", system, log, arguments,
            ],
            swiftSettings: strict),

        // L5. Not in a folder of its name: some file systems take it for the one of Dropmill.
        .executableTarget(
            name: "dropmill", dependencies: ["BuiltinStages", "DropmillCommand", "CStart"],
            path: "Sources/DropmillProgram", swiftSettings: strict),

        .target(
            name: "TestSupport", dependencies: ["Files", "PipelineKit", "Digests", "TestTools", system],
            path: "Tests/TestSupport",
            swiftSettings: strict),
        .testTarget(
            name: "ArchitectureTests",
            dependencies: ["Files", "PipelineKit", "TestSupport", "dropmill", "width", system],
            swiftSettings: strict),
        .testTarget(
            name: "FilesTests", dependencies: ["Files", "Platform", "PipelineKit", "TestSupport", "TestTools"],
            swiftSettings: strict),
        .testTarget(
            name: "PipelineKitTests", dependencies: ["Files", "PipelineKit", "TestSupport", "TestTools"],
            swiftSettings: strict),
        .testTarget(
            name: "ArchiveTests", dependencies: ["Archive", "CLinux", "TestSupport", system], swiftSettings: strict),
        .testTarget(
            name: "CompletenessTests",
            dependencies: ["Completeness", "Files", "PipelineKit", "TestSupport", "dropmill", "served", system],
            swiftSettings: strict),
        .testTarget(name: "SQLiteTests", dependencies: ["SQLite", "TestSupport"], swiftSettings: strict),
        .testTarget(name: "DigestsTests", dependencies: ["Digests", "TestSupport"], swiftSettings: strict),
        .testTarget(
            name: "BuiltinStagesTests",
            dependencies: [
                "BuiltinStages", "Archive", "FileTypes", "Files", "PipelineKit", "TestSupport", "dropmill", "beneath",
                "confined", "oldkernel", "served", system,
            ],
            swiftSettings: strict),
        .testTarget(
            name: "NotificationsTests",
            dependencies: [
                "Notifications", "Journal", "SQLiteJournal", "PipelineConfig", "BuiltinStages", "Files", "PipelineKit",
                "TestSupport", system,
            ],
            swiftSettings: strict),
        .testTarget(
            name: "PipelineConfigTests",
            dependencies: ["PipelineConfig", "BuiltinStages", "Files", "PipelineKit", "TestSupport", "TestTools"],
            swiftSettings: strict),
        .testTarget(
            name: "PipelineEngineTests",
            dependencies: [
                "PipelineEngine", "Doctor", "FolderWatch", "Readiness", "Journal", "PostgresJournal", "SQLiteJournal",
                "Files", "PipelineKit", "Digests", "SQLite", "TestSupport",
            ],
            exclude: ["Journal/schema-1.sql"], swiftSettings: strict),
        .testTarget(
            name: "RetentionTests",
            dependencies: [
                "Retention", "Files", "PipelineKit", "Journal", "PostgresJournal", "SQLiteJournal", "TestSupport",
                "TestTools", system,
            ], swiftSettings: strict),
        .testTarget(
            name: "DropmillCommandTests",
            dependencies: [
                "DropmillCommand", "dropmill", "BuiltinStages", "Control", "Doctor", "FolderWatch", "Readiness",
                "Journal", "Notifications",
                "PipelineEngine", "PipelineConfig", "Files", "PipelineKit", "SQLiteJournal", "TestSupport", system, log,
                arguments,
            ],
            swiftSettings: strict),
        .testTarget(
            name: "DashboardTests",
            dependencies: [
                "Dashboard", "Control", "Journal", "Files", "PipelineKit", "TestTools", "TestSupport", "dropmill",
                system,
            ] + http, swiftSettings: strict),
        .testTarget(
            name: "DropmillTests",
            dependencies: ["Dropmill", "DropmillStages", "PipelineKit", "TestSupport", "dropmill", "embedder", system],
            swiftSettings: strict),
        .testTarget(
            name: "EndToEndTests",
            dependencies: [
                "Files", "PipelineKit", "Journal", "PostgresJournal", "TestSupport", "dropmill", "oldkernel", system,
            ],
            swiftSettings: strict),
        // Kills, faults and power cuts; `faultline` is the program that causes them.
        .executableTarget(name: "faultline", path: "Tests/faultline"),
        // Opens what lies below a folder.
        .executableTarget(name: "beneath", dependencies: ["CLinux"], path: "Tests/beneath"),
        // Does what a helper may not.
        .executableTarget(name: "confined", dependencies: ["CLinux"], path: "Tests/confined"),
        // Embeds mills and sets up nothing.
        .executableTarget(
            name: "embedder", dependencies: ["CLinux", "Dropmill", "DropmillStages"], path: "Tests/embedder",
            swiftSettings: strict),
        // Runs a program as an older kernel would.
        .executableTarget(name: "oldkernel", path: "Tests/oldkernel"),
        // Helpers that do not help.
        .executableTarget(name: "served", dependencies: ["CLinux"], path: "Tests/served"),
        // Somebody who may write to an inbox and means no good.
        .executableTarget(name: "stranger", path: "Tests/stranger"),
        .testTarget(
            name: "StrangerTests",
            dependencies: [
                "Files", "PipelineKit", "TestSupport", "dropmill", "faultline", "oldkernel", "stranger", system,
            ],
            swiftSettings: strict),
        .target(name: "fakeclock", path: "Tests/fakeclock", publicHeadersPath: "."),
        .target(name: "heapcount", path: "Tests/heapcount", publicHeadersPath: "."),
        .testTarget(
            name: "TortureTests",
            dependencies: [
                "PipelineEngine", "FolderWatch", "Readiness", "Journal", "SQLiteJournal", "Digests", "Files",
                "PipelineKit", "Retention", "TestSupport", "dropmill", "faultline", system,
            ],
            swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6]
)

if isPortable {
    package.products.removeAll { $0.name != "FolderWatch" }
    package.dependencies.removeAll {
        if case .sourceControl(_, let location, _) = $0.kind { !location.hasSuffix("/swift-system") } else { true }
    }
    // The others need PipelineKit.
    let others = ["DropPath", "Folder", "FolderTrustList", "NameText", "Trouble"]
    package.targets =
        watching + [
            .testTarget(
                name: "FilesTests", dependencies: ["Files", "Platform", "TestTools", system],
                exclude: others.map { "\($0)Tests.swift" }, swiftSettings: portable)
        ]
}

// `make fuzz`: the reader of archives, told by libFuzzer which of its branches a made-up archive took.
if Context.environment["DROPMILL_FUZZ"] != nil {
    let fuzzing: [SwiftSetting] = strict + [.unsafeFlags(["-sanitize=fuzzer", "-parse-as-library", "-enable-testing"])]
    for target in package.targets where target.name == "Archive" { target.swiftSettings = fuzzing }
    package.targets.append(
        .executableTarget(
            name: "fuzz-archive", dependencies: ["Archive", "Files", "PipelineKit", system], path: "Tests/fuzz",
            exclude: ["corpus"], swiftSettings: fuzzing, linkerSettings: [.unsafeFlags(["-sanitize=fuzzer"])]))
    package.products.append(.executable(name: "fuzz-archive", targets: ["fuzz-archive"]))
}
