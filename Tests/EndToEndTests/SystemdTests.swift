import CLinux
import Glibc
import SystemPackage
import TestSupport
import Testing

/// The unit that is shipped, below a real systemd.
@Suite(
    .enabled(if: BootedSystem.tree != nil, Comment(rawValue: BootedSystem.needs)), .serialized, .timeLimit(.minutes(5)))
struct SystemdTests {
    private let scratch: ScratchFolder
    private let system: BootedSystem

    init() async throws {
        scratch = try ScratchFolder()
        system = try await BootedSystem(scratch)
        try system.write(Self.shipped("systemd/dropmill.service"), to: "/etc/systemd/system/dropmill.service")
        try system.run("useradd --system dropmill; install -d -o dropmill /srv/dropmill /srv/dropmill/press")
        try configure("[checksum]")
    }

    private static func shipped(_ name: String) throws -> String {
        String(
            decoding: try ScratchFolder.read(BootedSystem.checkout.pushing(FilePath("packaging/\(name)"))),
            as: UTF8.self)
    }

    private func configure(_ stages: String, in folder: String = "/srv/dropmill/press") throws {
        try system.write(
            """
            inbox: \(folder)/in
            processed: \(folder)/done
            failed: \(folder)/failed
            ready: { quiet: 50ms }
            stages: \(stages)
            """, to: "/etc/dropmill/pipelines/press.yaml")
    }

    /// Changes the unit and starts it.
    private func start(with lines: String = "") throws {
        try system.write("[Service]\n\(lines)", to: "/etc/systemd/system/dropmill.service.d/test.conf")
        let started = try system.run("systemctl daemon-reload && systemctl start dropmill")
        try #require(started.status == 0, "\(started.text)\n\(system.transcript)")
    }

    @Test func theUnitIsInOrderAndTellsHowItIs() async throws {
        let verified = try system.run("systemd-analyze verify --man=no dropmill.service")
        #expect(verified.status == 0 && verified.text.isEmpty, "\(verified.text)")
        try start()
        #expect(
            try await eventually {
                try system.run("systemctl status dropmill").text.contains(
                    "Status: \"1 pipeline: 0 jobs at work, 0 wait\"")
            }, "\(system.transcript)")
        let health = try system.run("dropmill health")
        #expect(health.status == 0, "\(health.text)")
        #expect(try system.run("systemctl stop dropmill; systemctl is-failed dropmill").text == "inactive\n")
    }

    @Test func aReloadComesBackWithTheReasonOfItsRefusal() throws {
        try start()
        try configure("[checksum, unknown]")
        #expect(try system.run("systemctl reload dropmill").status != 0)
        #expect(try system.journal().contains("the reload is refused, and nothing is changed: /etc/dropmill/pipelines"))
        try configure("[checksum, { copy: { to: /srv/dropmill/press/out } }]")
        let reloaded = try system.run("systemctl reload dropmill")
        #expect(reloaded.status == 0, "\(reloaded.text)\n\(system.transcript)")
        #expect(try system.journal().contains("press: changed ("))
        #expect(try system.run("systemctl is-active dropmill").text == "active\n")
    }

    @Test func theJournalTellsOneJobsStory() async throws {
        try start()
        try system.run("echo one > /srv/dropmill/press/in/one; echo two > /srv/dropmill/press/in/two")
        #expect(
            try await eventually {
                try system.run("ls /srv/dropmill/press/done/one /srv/dropmill/press/done/two").status == 0
            })
        let jobs = try system.run("dropmill jobs --name one --json").text
        let id = try #require(jobs.firstMatch(of: /"id":"([^"]+)"/)?.output.1, "\(jobs)")
        #expect(
            try await eventually {
                try system.journal("DROPMILL_JOB=\(id) DROPMILL_EVENT=processed").contains("one → ")
            })
        #expect(try !system.journal("DROPMILL_JOB=\(id)").contains("two"))
        try system.write(Self.shipped("dropmill.catalog"), to: "/usr/lib/systemd/catalog/dropmill.catalog")
        #expect(try system.run("journalctl --update-catalog").status == 0)
        let explained = try system.run("journalctl --no-pager --catalog DROPMILL_JOB=\(id) DROPMILL_EVENT=processed")
            .text
        #expect(
            explained.contains("Subject: A job succeeded") && explained.contains("The outputs of the job \(id) are"))
    }

    #if DEBUG
        @Test func aBlockedDaemonIsStartedAgainAndItsJobsGoOn() async throws {
            let wait = "cd /srv/dropmill/press; test -e go || { touch runs; sleep 600; }"
            try configure("[{ run: { command: [sh, -c, '\(wait)'] } }]")
            try start(
                with: "WatchdogSec=6\nRestartSec=0\nEnvironment=DROPMILL_TEST_BLOCKED=/srv/dropmill/press/block")
            try system.run("echo one > /srv/dropmill/press/in/one")
            #expect(try await eventually { try system.run("ls /srv/dropmill/press/runs").status == 0 })
            try system.run("touch /srv/dropmill/press/go; install -o dropmill /dev/null /srv/dropmill/press/block")
            #expect(
                try await eventually { try system.run("ls /srv/dropmill/press/done/one").status == 0 },
                "\(system.transcript)")
            let journal = try system.journal()
            #expect(journal.contains("the engine's queue has not answered for"))
            #expect(journal.contains("Watchdog timeout"))
            #expect(try system.run("systemctl show --property=NRestarts dropmill").text == "NRestarts=1\n")
        }
    #endif

    @Test func aUnitWithoutAUserOfItsOwnUnpacks() async throws {
        // Where the kernel has no Landlock, that is not the unit's fault.
        let needsSandbox = dm_landlock_version() > 0
        // Else it would be this one.
        try system.run("userdel dropmill")
        try configure(
            "[{ unpack: { require_sandbox: \(needsSandbox) } }, { move: { to: '/var/lib/press/out/{stem}' } }]",
            in: "/var/lib/press")
        try start(with: "User=\nDynamicUser=yes\nStateDirectory=press")
        var zip = ZipBuilder()
        zip.add("file", content: "hello")
        try scratch.write(zip.finished, to: scratch.path("srv/a.zip"))
        try system.run("cp /srv/a.zip /var/lib/press/in")
        #expect(
            try await eventually { try system.run("cat /var/lib/press/out/a/file").text == "hello" },
            "\(system.transcript)")
    }
}
