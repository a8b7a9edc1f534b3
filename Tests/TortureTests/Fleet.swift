import Files
import Glibc
import PipelineKit
import SystemPackage
import TestSupport

/// Nodes that share a mill's folders and a journal, and what is done to them.
struct Fleet {
    /// One of them, or what has its name now.
    struct Node {
        let name: String
        /// The folder of its pipeline files, which name the mill's folders as it sees them.
        let pipelines: FilePath
        /// Its way to the database.
        let network: SocketProxy
        let journal: String
        let fault: Faultline?
        fileprivate(set) var process: DropmillProcess
        /// When it goes on that stands still.
        fileprivate(set) var wakes: MonotonicTime?
        /// When it reaches the database again.
        fileprivate(set) var mends: MonotonicTime?
    }

    /// How a node loses its way to the database.
    enum Partition: CaseIterable {
        /// What it sends arrives when that is over, as do the answers.
        case held
        /// Connections are reset.
        case cut
    }

    /// How long a node may be silent.
    static let lease = Duration.seconds(2)

    var mill: Mill
    private(set) var nodes: [Node] = []
    private(set) var kills = 0, sleeps = 0, partitions = 0
    private let pipelines: [FilePath]
    let server: PostgresServer
    let journal: String

    /// Starts nodes over a mill that is built, with these folders of pipeline files in turn. `fault`: what happens to
    /// each of them.
    init(
        _ mill: Mill, of count: Int, with pipelines: [FilePath], _ server: PostgresServer, _ fault: Faultline? = nil
    ) throws {
        (self.mill, self.pipelines, self.server) = (mill, pipelines, server)
        journal = try server.schema()
        for _ in 0..<count { try add(fault) }
    }

    /// Starts one more. `fault`: what happens to it, and to those that are started in its place; `lease`: how long it
    /// believes itself to be alive.
    mutating func add(_ fault: Faultline? = nil, lease: Duration = Self.lease) throws {
        let number = nodes.count + 1
        let (name, own) = ("node-\(number)", pipelines[number % pipelines.count])
        let (folder, socket) = (mill.logs.appending("way-\(number)"), ".s.PGSQL.5432")
        try Folder.make(folder)
        let network = try SocketProxy(at: folder.appending(socket), before: server.folder.appending(socket))
        let place = journal.replacing("host=\(server.folder)", with: "host=\(folder)")
        nodes.append(
            Node(
                name: name, pipelines: own, network: network, journal: place, fault: fault,
                process: try start(name, own, place, fault, lease)))
    }

    private func start(
        _ name: String, _ pipelines: FilePath, _ journal: String, _ fault: Faultline?, _ lease: Duration = Self.lease
    ) throws -> DropmillProcess {
        try DropmillProcess(
            [
                "run", pipelines.string, "--state-dir", mill.logs.appending("state-\(name)").string,
                "--journal", journal, "--node", name, "--lease", "\(lease.components.seconds)s", "--log-format", "json",
            ], in: mill.logs, log: log(of: name), wrapper: fault?.wrapper ?? [])
    }

    /// Starts a process in place of one that has ended.
    private mutating func restart(_ number: Int) throws {
        let node = nodes[number]
        nodes[number].process = try start(node.name, node.pipelines, node.journal, node.fault)
        nodes[number].wakes = nil
    }

    func log(of name: String) -> FilePath { mill.logs.appending("\(name).log") }

    /// Ends one at once, and starts another one of its name.
    mutating func kill(_ number: Int) throws {
        try nodes[number].process.end()
        try restart(number)
        kills += 1
    }

    /// Has one lose its way to the database for a while.
    mutating func part(_ number: Int, _ way: Partition, for time: Duration) {
        guard nodes[number].mends == nil else { return }
        switch way {
        case .held: nodes[number].network.hold()
        case .cut: nodes[number].network.cut()
        }
        nodes[number].mends = .now() + time
        partitions += 1
    }

    /// Starts those again that a fault has killed; returns how many.
    mutating func restartKilled() throws -> Int {
        var count = 0
        for number in nodes.indices where try nodes[number].process.hasEnded() {
            try kill(number)
            count += 1
        }
        return count
    }

    /// Has one stand still for a while.
    mutating func stop(_ number: Int, for time: Duration) throws {
        guard nodes[number].wakes == nil else { return }
        try nodes[number].process.send(SIGSTOP)
        nodes[number].wakes = .now() + time
        sleeps += 1
    }

    /// Has those go on whose time is over; or all.
    mutating func wake(all: Bool = false) throws {
        for number in nodes.indices where nodes[number].mends.map({ all || $0 <= .now() }) ?? false {
            nodes[number].network.mend()
            nodes[number].mends = nil
        }
        for number in nodes.indices where nodes[number].wakes.map({ all || $0 <= .now() }) ?? false {
            try nodes[number].process.send(SIGCONT)
            nodes[number].wakes = nil
        }
    }

    /// Names of those that have ended by themselves. Those that could not start for want of the server start again, as
    /// a service manager has it.
    mutating func ended() throws -> [String] {
        var names: [String] = []
        for number in nodes.indices where try nodes[number].process.hasEnded() {
            guard nodes[number].process.status == 75 else {
                names.append(nodes[number].name)
                continue
            }
            try restart(number)
        }
        return names
    }

    mutating func send(_ signal: Int32, to number: Int) throws { try nodes[number].process.send(signal) }

    mutating func hasEnded(_ number: Int) throws -> Bool { try nodes[number].process.hasEnded() }

    /// Ends all in order.
    mutating func end() throws {
        try wake(all: true)
        for number in nodes.indices where try !hasEnded(number) { try nodes[number].process.send(SIGTERM) }
        for number in nodes.indices { _ = try nodes[number].process.wait() }
        for node in nodes { node.network.stop() }
    }

    /// Whether nothing waits or is at work.
    var isDone: Bool {
        do {
            guard try Folder.names(in: mill.layout.inbox).allSatisfy(\.isHidden), try work().isEmpty else {
                return false
            }
            return try count("unfinished") == 0
        } catch {
            // Folders go while they are looked at.
            return false
        }
    }

    /// Whether the others have marked one as dead and have all of its jobs.
    func isTakenOver(_ number: Int) -> Bool {
        let jobs = "SELECT FROM unfinished WHERE node = n.incarnation"
        return holds("NOT EXISTS (\(rows(of: number)) AND (dead_at IS NULL OR EXISTS (\(jobs))))")
    }

    /// Whether it is alive for them.
    func isAlive(_ number: Int) -> Bool {
        holds("EXISTS (\(rows(of: number)) AND dead_at IS NULL AND lease_until > clock_timestamp())")
    }

    private func rows(of number: Int) -> String { "SELECT FROM nodes n WHERE name = '\(nodes[number].name)'" }

    /// False also where nobody has made the tables yet.
    private func holds(_ condition: String) -> Bool {
        do { return try server.ask("SELECT \(condition)", in: journal) == ["t"] } catch { return false }
    }

    /// What is in the nodes' folders for jobs.
    func work() throws -> [FilePath] {
        let nodes = mill.layout.work.appending("nodes")
        guard Folder.kind(of: nodes) == .folder else { return [] }
        let files = try FileTree.list(nodes).files.map(\.relative)
        return files.filter { $0.components.dropFirst().first?.string == "active" }
    }

    func count(_ rows: String) throws -> Int {
        try server.ask("SELECT count(*) FROM \(rows)", in: journal).first.flatMap { Int($0) } ?? -1
    }
}
