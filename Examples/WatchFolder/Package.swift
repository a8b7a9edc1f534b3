// swift-tools-version: 6.2

import PackageDescription

let package = Package(
    name: "WatchFolder",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "dropmill", path: "../..")],
    targets: [
        .executableTarget(name: "WatchFolder", dependencies: [.product(name: "FolderWatch", package: "dropmill")])
    ]
)
