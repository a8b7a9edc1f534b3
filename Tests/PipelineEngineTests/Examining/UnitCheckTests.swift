import PipelineKit
import SystemPackage
import TestSupport
import Testing

@testable import Doctor

/// What is said of a unit's lines, by what `systemctl cat` prints.
@Suite("Unit check") struct UnitCheckTests {
    private static let file = "/etc/systemd/system/dropmill.service.d/own.conf"

    /// The unit that is shipped, and a drop-in.
    private func check(_ lines: String...) throws -> UnitCheck {
        let root = FilePath(#filePath).removingLastComponent().appending("../../../packaging/systemd/dropmill.service")
        let shipped = String(decoding: try ScratchFolder.read(root), as: UTF8.self)
        let own = lines.isEmpty ? "" : "\n# \(Self.file)\n[Service]\n" + lines.joined(separator: "\n")
        return UnitCheck(ServiceUnit("# /lib/systemd/system/dropmill.service\n" + shipped + own))
    }

    private func findings(_ check: UnitCheck, _ paths: String...) -> [[Finding]] {
        let places = paths.map { ExaminedPlace(role: "inbox", path: FilePath($0), findings: []) }
        return check.examine(ExaminedPipeline(name: "press", places: places)).places.map(\.findings)
    }

    @Test("The unit that is shipped takes nothing away, and opens /srv/dropmill and its state folder only")
    func shipped() throws {
        let check = try check()
        #expect(check.place.findings.map(\.grade) == [.good])
        #expect(findings(check, "/srv/dropmill/press/in", "/srv/dropmill/press/done") == [[], []])
        let found = findings(check, "/data/press/in", "/data/press/done", "/srv/dropmill", "/var/lib/dropmill/x")
        #expect(found.map(\.count) == [1, 1, 0, 1])
        #expect(found[0][0].grade == .problem)
        #expect(found[0][0].fact.contains("(ProtectSystem=strict, /lib/systemd/system/dropmill.service:"))
        #expect(found[0][0].remedy?.contains("[Service] and ReadWritePaths=/data/press, then:") == true)
        #expect(found[3][0].grade == .note, "folders by different lines are different mounts")
        let home = findings(check, "/home/anna/in")[0]
        #expect(home.first?.fact.contains("would not see what is here (ProtectHome=yes") == true)
        #expect(home.first?.remedy?.contains("BindPaths=/home/anna,") == true)
        #expect(findings(check, "/tmp/in")[0].first?.fact.contains("would not see what others drop") == true)
    }

    @Test("The template for several instances says the same but for names")
    func template() throws {
        let root = FilePath(#filePath).removingLastComponent().appending("../../../packaging/systemd")
        func lines(_ name: String) throws -> [String] {
            String(decoding: try ScratchFolder.read(root.appending(name)), as: UTF8.self).split(separator: "\n")
                .map(String.init).filter { !$0.hasPrefix("#") }
        }
        let own = [
            "Description", "Documentation", "ExecStart", "ExecReload", "User", "StateDirectory", "RuntimeDirectory",
            "ReadWritePaths",
        ]
        func rest(_ name: String) throws -> [String] {
            try lines(name).filter { line in
                !own.contains { line.hasPrefix("\($0)=") } && !line.hasPrefix("RuntimeDirectory")
            }
        }
        #expect(try rest("dropmill@.service") == rest("dropmill.service"))
    }

    @Test(
        "A drop-in opens folders, or closes them",
        arguments: [
            ("ReadWritePaths=-/data", true), ("ProtectSystem=full", true), ("ProtectSystem=no", true),
            ("BindPaths=/mnt/disk:/data:rbind", true), ("ReadWritePaths=/dat", false),
            ("ReadWritePaths=/data\nReadWritePaths=", false),
            ("ReadWritePaths=/data\nReadOnlyPaths=/data/press", false),
            ("ReadWritePaths=/data\nInaccessiblePaths=/data/press/in", false),
            ("ReadWritePaths=/srv \\\n  /data", true),
        ])
    func folders(_ lines: String, _ isOpen: Bool) throws {
        let found = findings(try check(lines), "/data/press/in")[0]
        #expect(found.isEmpty == isOpen, "\(found)")
    }

    @Test(
        "Each line that takes something away is named, with what that is",
        arguments: [
            ("SystemCallFilter=\nSystemCallFilter=@system-service", "landlock", Finding.Grade.problem),
            ("SystemCallFilter=~landlock_create_ruleset @mount", "landlock", .problem),
            ("SystemCallFilter=~seccomp", "seccomp", .note), ("SystemCallFilter=~seccomp:EPERM", "seccomp", .note),
            ("RestrictSUIDSGID=yes", "openat2", .note), ("DynamicUser=yes", "openat2", .note),
            ("ProcSubset=pid", "boot_id", .problem), ("PrivateUsers=yes", "capabilities", .problem),
            ("AmbientCapabilities=", "CAP_LEASE", .note), ("PrivateNetwork=yes", "network", .note),
            ("RestrictAddressFamilies=\nRestrictAddressFamilies=AF_UNIX", "network", .note),
            ("TimeoutStopSec=10", "--grace", .note), ("TimeoutStopSec=20s", "--grace", .note),
        ])
    func lines(_ lines: String, _ word: String, _ grade: Finding.Grade) throws {
        let found = try check(lines).place.findings
        #expect(found.count == 1 && found.first?.grade == grade, "\(found)")
        #expect(found.first?.fact.contains(word) == true, "\(found)")
        let isCited = found.first?.fact.contains("\(Self.file):") == true
        #expect(isCited || lines == "AmbientCapabilities=", "\(found)")
    }

    @Test(
        "Filters of calls that have all that is needed",
        arguments: [
            "SystemCallFilter=\nSystemCallFilter=@known",
            "SystemCallFilter=\nSystemCallFilter=~@mount seccomp:EPERM\nSystemCallFilter=seccomp",
        ])
    func filters(_ lines: String) throws {
        #expect(try check(lines).place.findings.map(\.grade) == [.good])
    }

    @Test("The state folder is to be open, too")
    func state() throws {
        func found(_ path: String, _ lines: String) throws -> [Finding] {
            try check(lines).examine(ExaminedPlace(role: "state", path: FilePath(path), findings: [])).findings
        }
        #expect(try found("/var/lib/dropmill", "").isEmpty)
        #expect(try found("/var/lib/dropmill", "StateDirectory=").first?.grade == .problem)
        #expect(try found("/data/state", "").first?.remedy?.contains("ReadWritePaths=/data/state,") == true)
        #expect(try found("/data/state", "ReadWritePaths=/data").isEmpty)
    }

    @Test("Where there is no unit that is said")
    func none() {
        #expect(UnitCheck(ServiceUnit("")).place.findings.first?.fact == "systemd knows no such unit")
    }
}
