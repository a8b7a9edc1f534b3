import Files
import FoundationEssentials
import SystemPackage
import TestSupport
import Testing

/// What is told of the work of others (packaging/third-party.py writes it) is of what is built.
@Suite struct ThirdPartyTests {
    private struct Resolved: Decodable {
        struct Pin: Decodable {
            struct State: Decodable {
                let version: String
                let revision: String
            }
            let location: String
            let state: State

            var name: String {
                let last = location.split(separator: "/").last.map(String.init) ?? location
                return last.hasSuffix(".git") ? String(last.dropLast(4)) : last
            }
        }
        let pins: [Pin]
    }

    private struct Bill: Decodable {
        struct Package: Decodable {
            let name: String
            let versionInfo: String?
            let downloadLocation: String
            let comment: String?
        }
        let spdxVersion: String
        let packages: [Package]
    }

    private func text(_ path: String) throws -> String {
        String(decoding: try ScratchFolder.read(House.root.appending(path)), as: UTF8.self)
    }

    private func decode<Value: Decodable>(_ path: String) throws -> Value {
        try JSONDecoder().decode(Value.self, from: Data(try text(path).utf8))
    }

    @Test func everyDependencyIsPinned() throws {
        let resolved: Resolved = try decode("Package.resolved")
        let declared = try text("Package.swift").split(separator: "\n").filter { $0.contains(".package(url:") }
        // What these bring along is the bill's matter, which has each by its version.
        for line in declared {
            let found = line.firstMatch(of: /url: "([^"]+)", exact: "([^"]+)"/)
            let (_, location, version) = try #require(found?.output, "\(line) is not pinned")
            #expect(
                resolved.pins.contains { $0.location == location && $0.state.version == version },
                "\(location) is not resolved at \(version)")
        }
        #expect(declared.count == 9)
    }

    @Test func noticesAndBillAreOfWhatIsResolved() throws {
        let resolved: Resolved = try decode("Package.resolved")
        let bill: Bill = try decode("packaging/dropmill.spdx.json")
        let notices = try text("THIRD-PARTY-NOTICES")
        #expect(bill.spdxVersion == "SPDX-2.3")
        for pin in resolved.pins {
            let remedy: Comment = "\(pin.name) \(pin.state.version) is resolved; run 'make notices'"
            #expect(notices.contains("\n\(pin.name) \(pin.state.version) ("), remedy)
            #expect(bill.packages.contains { $0.name == pin.name && $0.versionInfo == pin.state.version }, remedy)
            let address = "git+\(pin.location)@\(pin.state.revision)"
            #expect(bill.packages.contains { $0.downloadLocation == address }, remedy)
        }
        // Those and no others: what is no longer linked is no longer told of.
        let told = bill.packages.filter { $0.downloadLocation.hasPrefix("git+") }.map(\.name)
        #expect(Set(told) == Set(resolved.pins.map(\.name)))
    }

    @Test func theBillHasTheProgramAndTheLibrariesOfTheSystem() throws {
        let bill: Bill = try decode("packaging/dropmill.spdx.json")
        let own = try #require(bill.packages.first { $0.name == "dropmill" }?.versionInfo)
        #expect(try text("VERSION") == "\(own)\n", "run 'make notices'")
        var linked: Set<String> = []
        for map in HouseRules.targets.map({ "Sources/\($0)/module.modulemap" })
        where Folder.kind(of: House.root.pushing(FilePath(map))) == .regular {
            for match in try text(map).matches(of: /(?:link|loads) "(\w+)"/) {
                linked.insert(String(match.output.1))
            }
        }
        let told = bill.packages.compactMap(\.comment).filter { $0.hasSuffix(", of the system") }
        #expect(Set(told) == Set(linked.map { "lib\($0), of the system" }), "run 'make notices'")
    }
}
