import Files
import Glibc
import SystemPackage
import TestSupport
import Testing

extension Torture {
    /// What keeps nodes from publishing twice, taken away from outside: where nothing of it is left the torture must
    /// see that; and where only one of two walls is, that one holds.
    @Suite(
        .enabled(if: PostgresServer.isPossible, "needs postgresql"),
        .enabled(if: Faultline.isPossible, "\(Faultline.skip)")) struct FleetWallTests
    {
        /// A node stands still in front of the rename that publishes a file, until another one has published it; then
        /// it goes on, and does not notice that it is dead. The journal refuses what it writes (`isFenced`), and what
        /// it wants to rename is gone (unless it `isLeft` there).
        @Test(arguments: [true, false], [true, false])
        func oneThatWakes(isFenced: Bool, isLeft: Bool) async throws {
            var scene = try Scene()
            try scene.fleet.mill.dropPlain("plain.txt")
            try scene.begin(.stop(isMade: false), at: "*/output/plain/plain.txt", believing: .seconds(600))
            try #require(try await eventually { try scene.wasHit() })
            let left = try scene.payloads()
            try #require(!left.isEmpty)
            if !isFenced {
                // Whatever is refused is said to be written.
                try scene.ask(
                    """
                    DO $$ BEGIN EXECUTE replace(
                        pg_get_functiondef('write_jobs_1'::regproc), 'RETURN QUERY SELECT', 'PERFORM');
                    END $$
                    """)
            }
            try scene.fleet.server.endLease(where: "name = 'node-1'", in: scene.fleet.journal)
            try scene.fleet.add()
            try #require(await eventually { scene.fleet.isDone })
            #expect(try !scene.isTwice())
            // What it finds stays there.
            try scene.fleet.send(SIGSTOP, to: 1)
            if isLeft {
                for (path, content) in left {
                    try Folder.make(path.removingLastComponent())
                    try scene.fleet.mill.write(content, to: path)
                }
            }
            try scene.fleet.send(SIGCONT, to: 0)
            try scene.fleet.send(SIGTERM, to: 0)
            try #require(try await eventually { try scene.fleet.hasEnded(0) })
            let isTwice = try scene.isTwice()
            Torture.say(
                "one that wakes, \(isFenced ? "fenced" : "not fenced"), payloads \(isLeft ? "left" : "taken"): "
                    + "\(isTwice ? "" : "not ")published twice\(!isFenced && isLeft ? " (must be seen)" : "")")
            #expect(isTwice == (!isFenced && isLeft))
            try scene.fleet.send(SIGCONT, to: 1)
            try scene.fleet.end()
        }

        /// A node is killed between two renames of a settlement whose intents are not on record: they are written
        /// after them, if at all.
        @Test(arguments: [true, false]) func oneThatIsKilled(isOnRecord: Bool) async throws {
            var scene = try Scene()
            try scene.begin(.kill, at: "*/processed/archive.zip")
            try #require(await eventually { scene.fleet.isAlive(0) })
            if !isOnRecord {
                try scene.ask(
                    """
                    CREATE FUNCTION hold_back() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
                    CREATE TRIGGER hold_back BEFORE INSERT OR UPDATE ON unfinished FOR EACH ROW
                        WHEN (NEW.state = 'settling') EXECUTE FUNCTION hold_back()
                    """)
            }
            try scene.fleet.mill.dropZip("archive.zip", members: 3)
            try #require(try await eventually { try scene.fleet.hasEnded(0) })
            #expect(scene.fleet.nodes[0].process.status == 137)
            try scene.fleet.add()
            try #require(await eventually { scene.fleet.isDone })
            let isTwice = try scene.isTwice()
            Torture.say(
                "one that is killed, intents \(isOnRecord ? "before" : "after") renames: "
                    + "\(isTwice ? "" : "not ")published twice\(isOnRecord ? "" : " (must be seen)")")
            #expect(isTwice == !isOnRecord)
            try scene.fleet.end()
        }

        /// One node with a fault, and what comes after it.
        private struct Scene {
            var fleet: Fleet
            private let scratch: ScratchFolder
            private var log: FilePath { scratch.path.appending("calls") }

            init() throws {
                scratch = try ScratchFolder()
                var mill = Mill(at: try scratch.makeFolder("share"))
                mill.logs = scratch.path
                try mill.build(quiet: "50ms", keepsLists: false)
                fleet = try Fleet(mill, of: 0, with: [mill.pipelines], try PostgresServer.shared.get())
            }

            /// Starts the first node; something is done to it when it renames something to such a path.
            mutating func begin(
                _ deed: Faultline.Deed, at path: String, believing lease: Duration = Fleet.lease
            ) throws {
                var fault = fleet.mill.fault(["rename", "renameat", "renameat2", "link", "linkat"])
                (fault.path, fault.at, fault.deed, fault.log) = (path, 1, deed, log)
                try fleet.add(fault, lease: lease)
            }

            func wasHit() throws -> Bool { try Folder.kind(of: log) != nil && !Faultline.calls(in: log).isEmpty }

            /// What is in the nodes' folders for jobs.
            func payloads() throws -> [FilePath: [UInt8]] {
                let nodes = fleet.mill.layout.work.appending("nodes")
                let files = try fleet.work().map { nodes.pushing($0) }
                return try Dictionary(uniqueKeysWithValues: files.map { ($0, try ScratchFolder.read($0)) })
            }

            func ask(_ sql: String) throws { _ = try fleet.server.ask(sql, in: fleet.journal) }

            func isTwice() throws -> Bool {
                try fleet.mill.violations(.settled).contains { $0.kind == .publishedTwice }
            }
        }
    }
}
