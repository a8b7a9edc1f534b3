// swift-tools-version: 6.2

import PackageDescription

let package = Package(
    name: "EmbeddedMill",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "dropmill", path: "../..")],
    targets: [
        .executableTarget(
            name: "EmbeddedMill",
            dependencies: [
                .product(name: "Dropmill", package: "dropmill"), .product(name: "DropmillStages", package: "dropmill"),
            ])
    ]
)
