// swift-tools-version: 6.2

import PackageDescription

let package = Package(
    name: "TailLines",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "dropmill", path: "../..")],
    targets: [
        .executableTarget(name: "TailLines", dependencies: [.product(name: "FolderWatch", package: "dropmill")])
    ]
)
