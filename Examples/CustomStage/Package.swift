// swift-tools-version: 6.2

import PackageDescription

let package = Package(
    name: "CustomStage",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "dropmill", path: "../..")],
    targets: [
        .executableTarget(name: "CustomStage", dependencies: [.product(name: "Dropmill", package: "dropmill")])
    ]
)
